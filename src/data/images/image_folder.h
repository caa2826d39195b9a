#pragma once
#include "data/images/image_list.h"

namespace mpitron::data {

/// Images below ROOT/CLASS/, in a fixed order: classes by the bytes of their names, in a class each
/// folder's own files before the next folder, all sorted.
class ImageFolder final : public ImageList {
 public:
  /// Error(data) where the folder holds no class or no image.
  explicit ImageFolder(const std::filesystem::path& root, const ImageShare& share = {});

  std::string name(Index image) const override { return path(image).string(); }
  EncodedImage read(Index image) const override;

 private:
  const std::filesystem::path& path(Index image) const {
    return files_[static_cast<std::size_t>(image)];
  }

  std::vector<std::filesystem::path> files_;
};

}  // namespace mpitron::data
