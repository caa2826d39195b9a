#pragma once
#include "config/vision_config.h"
#include "data/gpt/dataset.h"
#include "data/images/bad_samples.h"
#include "data/images/image_list.h"
#include "images/augment/draws.h"

namespace mpitron::data {

/// Images of a list as a model of images takes them.
class ImageDataset final : public Dataset {
 public:
  struct Options {
    config::VisionConfig vision;
    bool training = true;  // false: the whole image, resized
    Index seed = 0;
  };
  ImageDataset(std::shared_ptr<const ImageList> images, const Options& options);

  Index size() const override { return images_->size(); }
  /// Writes one number: the label.
  void read(Index sample, std::span<std::int64_t> label) const override;
  const std::string& description() const override { return description_; }
  const ImageList& images() const { return *images_; }
  /// Returns a data set of these images, resized only.
  std::shared_ptr<const ImageDataset> as_evaluated() const;
  /// Returns how many numbers the pixels of a sample are.
  Index pixels() const;
  /// Returns the patches of its mask; 0: it has none.
  Index mask_patches() const {
    return options_.vision.task == config::VisionTask::inpaint ? options_.vision.patches() : 0;
  }

  /// The memory that a sample is written to.
  struct View {
    std::span<float> pixels;  // [3, height, width]; of DINO all crops, one behind the other
    std::int64_t* label = nullptr;
    std::span<float> mask;  // [patches], 1 = masked; to inpaint only
  };
  /// Decodes and transforms a sample; what is random follows from seed, sample and epoch. An image
  /// that cannot be decoded is replaced by the next one of the list, as often as the options allow;
  /// Error(data) after that.
  void read_view(Index sample, Index epoch, const View& view) const;

 private:
  /// Decodes the sample, or the next that can be; `sample` is which.
  images::Image decode(Index& sample) const;
  void write_crops(const images::Image& image, images::Draws::Place place,
                   std::span<float> pixels) const;

  std::shared_ptr<const ImageList> images_;
  Options options_;
  std::string description_;
  mutable BadSamples bad_;
};

/// Marks the patches behind a mask: a random walk over the grid, or its last patches. [patches], 1
/// = masked.
void write_patch_mask(const config::VisionConfig& vision, std::uint64_t seed, Index sample,
                      Index epoch, std::span<float> mask);

}  // namespace mpitron::data
