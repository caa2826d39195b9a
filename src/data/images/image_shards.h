#pragma once
#include <array>

#include "data/images/image_list.h"
#include "data/images/tar_shards.h"

namespace mpitron::data {

/// Endings of images in shards.
inline constexpr std::array<std::string_view, 5> kShardImages{"jpg", "jpeg", "png", "webp", "ppm"};

/// Images of shards with the number of their class beside them: KEY.jpg and KEY.cls. Classes are
/// called by their numbers.
class ImageShards final : public ImageList {
 public:
  /// Error(data) where a sample lacks its image or its class.
  ImageShards(const std::filesystem::path& path, const ImageShare& share,
              const std::filesystem::path& index_folder);

  std::string name(Index image) const override { return shards_.name(sample(image)); }
  EncodedImage read(Index image) const override;

 private:
  const TarShards::Sample& sample(Index image) const {
    return shards_.samples()[static_cast<std::size_t>(places_[static_cast<std::size_t>(image)])];
  }

  TarShards shards_;
  std::vector<Index> places_;  // of the images of the share in the shards
};

}  // namespace mpitron::data
