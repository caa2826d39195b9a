#include "images/augment/views.h"

#include <array>
#include <utility>

#include "images/augment/auto_augment.h"
#include "images/transforms/blur.h"
#include "images/transforms/colour.h"

// Views of an image for training, put together from the transforms; what happens is drawn by
// numbers of its own (draws.h).

namespace mpitron::images {
namespace {

Image cropped_and_flipped(const Image& image, const Size& size, const CropScale& scale,
                          Filter filter, const Draws& draws) {
  const Box box = random_crop({image.width, image.height}, scale, draws);
  Image result = resize(image, box, size, filter);
  return draws.happens(DrawNumber::flip, 0.5) ? mirrored(result) : result;
}

}  // namespace

Image jittered(const Image& image, const Jitter& jitter, const Draws& draws) {
  std::array<int, 4> order{0, 1, 2, 3};
  for (std::uint32_t i = 3; i > 0; --i) {
    std::swap(order[i], order[static_cast<std::size_t>(
                            draws.below(DrawNumber::jitter + 3 - i, static_cast<Index>(i) + 1))]);
  }
  constexpr std::uint32_t kFactors = DrawNumber::jitter + 3;
  const auto factor = [&](std::uint32_t which, double strength) {
    return draws.between(kFactors + which, 1 - strength, 1 + strength);
  };
  Image result = image;
  for (const int operation : order) {
    switch (operation) {
      case 0:
        result = brightened(result, factor(0, jitter.brightness));
        break;
      case 1:
        result = contrasted(result, factor(1, jitter.contrast));
        break;
      case 2:
        result = saturated(result, factor(2, jitter.saturation));
        break;
      default:
        result = hue_shifted(result, draws.between(kFactors + 3, -jitter.hue, jitter.hue));
    }
  }
  return result;
}

Image classification_view(const Image& image, const Size& size, const Draws& draws) {
  const Image part = cropped_and_flipped(image, size, {}, Filter::bilinear, draws);
  return auto_augmented(jittered(part, {}, draws), draws);
}

Image dino_view(const Image& image, const DinoView& view, const Draws& draws) {
  Image result = cropped_and_flipped(image, view.size, view.scale, Filter::bicubic, draws);
  if (draws.happens(DrawNumber::jitter_happens, 0.8)) {
    result = jittered(result, {.saturation = 0.2}, draws);
  }
  if (draws.happens(DrawNumber::grey_happens, 0.2)) {
    result = grey(result);
  }
  if (draws.happens(DrawNumber::blur, view.blur_probability)) {
    result = blurred(result, draws.between(DrawNumber::blur + 1, 0.1, 2));
  }
  if (draws.happens(DrawNumber::solarise, view.solarise_probability)) {
    result = solarised(result, 128);
  }
  return result;
}

void write_planes(const Image& image, const Normalisation& normalisation, std::span<float> to) {
  const std::size_t pixels = image.pixels.size() / kChannels;
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    // A table of all levels: the division happens 256 times and not once a pixel.
    std::array<float, 256> values;
    for (std::size_t level = 0; level < values.size(); ++level) {
      values[level] = (static_cast<float>(level) / 255.f - normalisation.mean[channel]) /
                      normalisation.deviation[channel];
    }
    for (std::size_t i = 0; i < pixels; ++i) {
      to[channel * pixels + i] = values[image.pixels[i * kChannels + channel]];
    }
  }
}

}  // namespace mpitron::images
