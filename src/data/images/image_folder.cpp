#include <algorithm>
#include <cctype>

#include <fmt/ranges.h>

#include "data/images/image_list.h"
#include "images/codecs/decode.h"
#include "utils/error.h"

// Images in a folder for each class, found in an order that does not depend on the file system.

namespace mpitron::data {
namespace {

namespace fs = std::filesystem;

bool is_image(const fs::path& path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::count(images::image_extensions(), extension) > 0;
}

/// Returns the folders, or the images, right below a folder, sorted; links are followed.
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

/// Appends the folder and all below it.
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

}  // namespace

ImageFolder::ImageFolder(const fs::path& root, const ImageShare& share) {
  std::error_code error;
  if (!fs::is_directory(root, error)) {
    throw_data("{}: no folder of images, archive (.h5) or shard (.tar)", root.string());
  }
  std::vector<fs::path> folders = entries(root, true);
  const auto count = static_cast<Index>(folders.size());
  folders.resize(static_cast<std::size_t>(share.first_classes(count)));
  for (const fs::path& folder : folders) {
    std::vector<fs::path> files = images_of_class(folder);
    files.resize(static_cast<std::size_t>(share.first_images(static_cast<Index>(files.size()))));
    labels_.insert(labels_.end(), files.size(), static_cast<Index>(classes_.size()));
    std::ranges::move(files, std::back_inserter(files_));
    classes_.push_back(folder.filename().string());
  }
  if (files_.empty()) {
    throw_data("{}: {} classes (folders) and no image in them; images end in {}", root.string(),
               classes_.size(), fmt::join(images::image_extensions(), " "));
  }
}

EncodedImage ImageFolder::read(Index image) const {
  EncodedImage result{.file = MappedFile(path(image)), .bytes = {}};
  result.bytes = result.file.bytes();
  return result;
}

}  // namespace mpitron::data
