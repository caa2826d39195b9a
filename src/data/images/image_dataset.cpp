#include "data/images/image_dataset.h"

#include <algorithm>

#include "images/augment/views.h"
#include "images/codecs/decode.h"
#include "utils/error.h"

// Images as rows of pixels for the tasks of `pretrain_vision_*`: augmented to classify, with a mask
// of patches to inpaint, in crops for DINO; all that is random comes from counters of seed, sample
// and epoch.

namespace mpitron::data {
namespace {

using config::VisionTask;
using images::DrawNumber;
using images::Draws;

/// Masks the patches of a walk of `mask_steps` steps from anywhere to neighbours, cut at the edge;
/// the start is not masked unless it is met again.
void walk(const config::VisionConfig& vision, const Draws& draws, std::span<float> mask) {
  constexpr Index kSteps[4][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}};
  const Index rows = vision.grid_height(), columns = vision.grid_width();
  Index row = draws.below(DrawNumber::mask, rows);
  Index column = draws.below(DrawNumber::mask + 1, columns);
  for (Index i = 0; i < vision.mask_steps(); ++i) {
    const auto number = DrawNumber::mask + 2 + static_cast<std::uint32_t>(i);
    const auto& step = kSteps[draws.below(number, 4)];
    row = std::clamp<Index>(row + step[0], 0, rows - 1);
    column = std::clamp<Index>(column + step[1], 0, columns - 1);
    mask[static_cast<std::size_t>(row * columns + column)] = 1;
  }
}

}  // namespace

void write_patch_mask(const config::VisionConfig& vision, std::uint64_t seed, Index sample,
                      Index epoch, std::span<float> mask) {
  std::ranges::fill(mask, 0.f);
  if (vision.mask_shape == config::MaskShape::last_rows) {
    std::ranges::fill(mask.last(static_cast<std::size_t>(vision.mask_steps())), 1.f);
  } else {
    walk(vision, Draws({.seed = seed, .sample = sample, .epoch = epoch}), mask);
  }
}

ImageDataset::ImageDataset(std::shared_ptr<const ImageList> images, const Options& options)
    : images_(std::move(images)),
      options_(options),
      description_(fmt::format(R"({{"class": "Images", "classes": {}, "images": {}}})",
                               images_->classes().size(), images_->size())),
      bad_(options.vision.most_bad_images) {}

void ImageDataset::read(Index sample, std::span<std::int64_t> label) const {
  label[0] = images_->label(sample);
}

std::shared_ptr<const ImageDataset> ImageDataset::as_evaluated() const {
  Options options = options_;
  options.training = false;
  return std::make_shared<ImageDataset>(images_, options);
}

Index ImageDataset::pixels() const {
  const config::VisionConfig& vision = options_.vision;
  return vision.dino && options_.training ? vision.crop_pixels() : vision.pixels();
}

images::Image ImageDataset::decode(Index& sample) const {
  return bad_.first_good(sample, size(), [this](Index which) { return decoded(*images_, which); });
}

/// Writes two large crops and the small ones, with the scales and probabilities of the reference's
/// DINO transforms.
void ImageDataset::write_crops(const images::Image& image, images::Draws::Place place,
                               std::span<float> pixels) const {
  const config::VisionConfig& vision = options_.vision;
  const Index edge = vision.dino->local_size;
  const images::Size whole{vision.image_width, vision.image_height};
  const images::DinoView first{.size = whole, .scale = {0.4, 1}, .blur_probability = 1};
  const images::DinoView second{
      .size = whole, .scale = {0.4, 1}, .blur_probability = 0.1, .solarise_probability = 0.2};
  const images::DinoView local{.size = {edge, edge}, .scale = {0.05, 0.4}, .blur_probability = 0.5};
  for (place.view = 0; place.view < vision.dino->crops(); ++place.view) {
    const images::DinoView& view = place.view == 0 ? first : place.view == 1 ? second : local;
    const auto count =
        static_cast<std::size_t>(images::kChannels * view.size.width * view.size.height);
    images::write_planes(images::dino_view(image, view, Draws(place)), images::kImageNet,
                         pixels.first(count));
    pixels = pixels.subspan(count);
  }
}

void ImageDataset::read_view(Index sample, Index epoch, const View& view) const {
  const config::VisionConfig& vision = options_.vision;
  const images::Image image = decode(sample);
  *view.label = images_->label(sample);
  const images::Draws::Place place{
      .seed = static_cast<std::uint64_t>(options_.seed), .sample = sample, .epoch = epoch};
  if (options_.training && vision.task == VisionTask::dino) {
    write_crops(image, place, view.pixels);
    return;
  }
  const images::Size size{vision.image_width, vision.image_height};
  const bool augments = options_.training && vision.task == VisionTask::classify;
  images::write_planes(
      augments ? images::classification_view(image, size, Draws(place))
               : images::resize(image, size, images::Filter::bilinear),
      vision.task == VisionTask::inpaint ? images::Normalisation{} : images::kImageNet,
      view.pixels);
  if (vision.task == VisionTask::inpaint) {
    write_patch_mask(vision, place.seed, sample, epoch, view.mask);
  }
}

}  // namespace mpitron::data
