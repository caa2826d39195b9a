#pragma once
#include <mutex>
#include <set>

#include "config/vision_config.h"
#include "data/gpt/dataset.h"
#include "data/images/image_folder.h"

namespace mpitron::data {

/// Images of a folder as a model of images takes them.
class ImageDataset final : public Dataset {
 public:
  struct Options {
    config::VisionConfig vision;
    bool training = true;  // false: the whole image, resized
    Index seed = 0;
  };
  ImageDataset(ImageFolder folder, const Options& options);

  Index size() const override { return static_cast<Index>(folder_.files.size()); }
  /// One number: the label.
  void read(Index sample, std::span<std::int64_t> label) const override;
  const std::string& description() const override { return description_; }
  const ImageFolder& folder() const { return folder_; }

  /// Where a sample is written.
  struct View {
    std::span<float> pixels;  // [3, height, width]
    std::int64_t* label = nullptr;
    std::span<float> mask;  // [patches], 1 = masked; to inpaint only
  };
  /// Decodes and transforms; what is random follows from seed, sample and epoch. An image that
  /// cannot be decoded is replaced by the next one of the list, as often as the options allow;
  /// Error(data) after that.
  void read_view(Index sample, Index epoch, const View& view) const;

 private:
  /// Error(data) where no more may be bad.
  void note_bad(Index sample, const std::string& message) const;

  ImageFolder folder_;
  Options options_;
  std::string description_;
  mutable std::mutex mutex_;
  mutable std::set<Index> bad_;
};

/// Patches behind a mask: a random walk over the grid, or its last patches. [patches], 1 = masked.
void write_patch_mask(const config::VisionConfig& vision, std::uint64_t seed, Index sample,
                      Index epoch, std::span<float> mask);

}  // namespace mpitron::data
