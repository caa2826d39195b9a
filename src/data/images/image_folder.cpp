#include "data/images/image_folder.h"

#include <algorithm>
#include <cctype>

#include <fmt/ranges.h>

#include "images/codecs/decode.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::data {
namespace {

namespace fs = std::filesystem;

bool is_image(const fs::path& path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::count(images::image_extensions(), extension) > 0;
}

/// Sorted; links are followed.
std::vector<fs::path> entries(const fs::path& folder, bool folders) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (folders ? entry.is_directory() : entry.is_regular_file() && is_image(entry.path())) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found, {}, [](const fs::path& path) { return path.native(); });
  return found;
}

/// The folder and all below it.
void add_folders(const fs::path& folder, std::vector<fs::path>& folders) {
  folders.push_back(folder);
  for (const fs::path& below : entries(folder, true)) {
    add_folders(below, folders);
  }
}

std::vector<fs::path> images_of_class(const fs::path& folder) {
  std::vector<fs::path> folders, files;
  add_folders(folder, folders);
  std::ranges::sort(folders, {}, [](const fs::path& path) { return path.native(); });
  for (const fs::path& each : folders) {
    std::ranges::move(entries(each, false), std::back_inserter(files));
  }
  return files;
}

std::size_t share_of(std::size_t count, double share) {
  return static_cast<std::size_t>(static_cast<double>(count) * share);
}

}  // namespace

ImageFolder list_image_folder(const fs::path& root, const FolderShare& share) {
  std::error_code error;
  if (!fs::is_directory(root, error)) {
    throw_data("{}: no folder; --data-path names one with a folder of images for each class",
               root.string());
  }
  ImageFolder result;
  std::vector<fs::path> classes = entries(root, true);
  classes.resize(share_of(classes.size(), share.classes));
  for (const fs::path& folder : classes) {
    std::vector<fs::path> files = images_of_class(folder);
    files.resize(share_of(files.size(), share.images));
    if (files.empty()) {
      log::warning("{}: a class without images", folder.string());
    }
    const auto label = static_cast<Index>(result.classes.size());
    for (fs::path& file : files) {
      result.files.push_back({std::move(file), label});
    }
    result.classes.push_back(folder.filename().string());
  }
  if (result.files.empty()) {
    throw_data("{}: {} classes (folders) and no image in them; images end in {}", root.string(),
               result.classes.size(), fmt::join(images::image_extensions(), " "));
  }
  return result;
}

}  // namespace mpitron::data
