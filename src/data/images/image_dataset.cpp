#include "data/images/image_dataset.h"

#include <algorithm>

#include "images/augment/views.h"
#include "images/codecs/decode.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::data {
namespace {

using config::VisionTask;
using images::DrawNumber;
using images::Draws;

/// A walk of `mask_steps` steps from anywhere to neighbours, cut at the edge; the start is not
/// masked unless it is met again.
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

ImageDataset::ImageDataset(ImageFolder folder, const Options& options)
    : folder_(std::move(folder)),
      options_(options),
      description_(fmt::format(R"({{"class": "ImageFolder", "classes": {}, "images": {}}})",
                               folder_.classes.size(), folder_.files.size())) {}

void ImageDataset::read(Index sample, std::span<std::int64_t> label) const {
  label[0] = folder_.files[static_cast<std::size_t>(sample)].label;
}

void ImageDataset::note_bad(Index sample, const std::string& message) const {
  const std::lock_guard lock(mutex_);
  if (!bad_.insert(sample).second) {
    return;
  }
  const auto count = static_cast<Index>(bad_.size());
  if (count > options_.vision.most_bad_images) {
    throw_data("{}{}", message,
               options_.vision.most_bad_images > 0
                   ? fmt::format("; {} images cannot be decoded, more than --skip-bad-images {}",
                                 count, options_.vision.most_bad_images)
                   : "; --skip-bad-images N leaves out up to N such images");
  }
  log::warning("{}; the next image takes its place ({} of {})", message, count,
               options_.vision.most_bad_images);
}

void ImageDataset::read_view(Index sample, Index epoch, const View& view) const {
  const config::VisionConfig& vision = options_.vision;
  const images::Size size{vision.image_width, vision.image_height};
  images::Image image;
  Index taken = sample;
  for (Index tries = 0; image.pixels.empty(); ++tries) {
    const ImageFolder::File& file = folder_.files[static_cast<std::size_t>(taken)];
    try {
      image = images::read_image(file.path.string());
    } catch (const Error& error) {
      if (error.code() != ExitCode::data || tries == this->size()) {
        throw;
      }
      note_bad(taken, error.what());
      taken = (taken + 1) % this->size();
    }
  }
  const bool augments = options_.training && vision.task == VisionTask::classify;
  const Draws draws(
      {.seed = static_cast<std::uint64_t>(options_.seed), .sample = taken, .epoch = epoch});
  images::write_planes(
      augments ? images::classification_view(image, size, draws)
               : images::resize(image, size, images::Filter::bilinear),
      vision.task == VisionTask::classify ? images::kImageNet : images::Normalisation{},
      view.pixels);
  *view.label = folder_.files[static_cast<std::size_t>(taken)].label;
  if (vision.task == VisionTask::inpaint) {
    write_patch_mask(vision, static_cast<std::uint64_t>(options_.seed), taken, epoch, view.mask);
  }
}

}  // namespace mpitron::data
