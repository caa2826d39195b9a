#include "data/images/image_list.h"

#include <mutex>

#include "data/images/image_archive.h"
#include "data/images/image_shards.h"
#include "utils/error.h"
#include "utils/log.h"

// Opens images wherever they lie, and decodes them with warnings on what other programs see
// differently.

namespace mpitron::data {

std::vector<Index> images_of_share(Index classes, std::span<const Index> labels,
                                   const ImageShare& share) {
  std::vector<Index> left(static_cast<std::size_t>(classes));
  for (const Index label : labels) {
    // Images of each class; below: how many of them the share takes.
    ++left[static_cast<std::size_t>(label)];
  }
  for (Index label = 0; label < classes; ++label) {
    Index& count = left[static_cast<std::size_t>(label)];
    count = label < share.first_classes(classes) ? share.first_images(count) : 0;
  }
  std::vector<Index> result;
  for (std::size_t image = 0; image < labels.size(); ++image) {
    if (left[static_cast<std::size_t>(labels[image])]-- > 0) {
      result.push_back(static_cast<Index>(image));
    }
  }
  return result;
}

images::Image decode_image(images::Bytes file, const std::string& name, Index most_pixels) {
  static std::once_flag turned, deep_grey;
  images::Image image = images::decode(file, name, most_pixels);
  if (image.orientation != 1) {
    std::call_once(turned, [&] {
      log::warning("{}: EXIF says that the camera was turned; images are taken as they are stored",
                   name);
    });
  }
  if (image.lost_levels) {
    std::call_once(deep_grey,
                   [&] { log::warning("{}: grey of 16 bits; the high byte is taken", name); });
  }
  return image;
}

images::Image decoded(const ImageList& list, Index image) {
  return decode_image(list.read(image).bytes, list.name(image));
}

std::unique_ptr<ImageList> open_images(const std::filesystem::path& path, const ImageShare& share,
                                       const std::filesystem::path& index_folder) {
  std::unique_ptr<ImageList> list;
  std::error_code ignored;
  if (path.string().find("://") != std::string::npos) {
    throw_data("{}: nothing is fetched from a network; copy it, and name the file or folder",
               path.string());
  }
  if (path.extension() == ".h5" && !std::filesystem::is_directory(path, ignored)) {
    list = std::make_unique<ImageArchive>(path, share);
  } else if (!shards_of(path).empty()) {
    list = std::make_unique<ImageShards>(path, share, index_folder);
  } else {
    list = std::make_unique<ImageFolder>(path, share);
  }
  std::vector<Index> counts(list->classes().size());
  for (Index image = 0; image < list->size(); ++image) {
    ++counts[static_cast<std::size_t>(list->label(image))];
  }
  for (std::size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] == 0) {
      log::warning("{}: class {} has no image", path.string(), list->classes()[label]);
    }
  }
  return list;
}

}  // namespace mpitron::data
