#include "images/augment/random_crop.h"

#include <cmath>

// torchvision's RandomResizedCrop: ten tries at a random area and aspect ratio, else the middle.
// Draws are by number, so that a sample's crop does not depend on which thread reads it.

namespace mpitron::images {
namespace {

constexpr double kNarrow = 3.0 / 4, kWide = 4.0 / 3;

/// Rounds half to even, as Python does.
Index rounded(double value) {
  return static_cast<Index>(std::nearbyint(value));
}

/// Returns the largest part around the middle with an allowed aspect ratio.
Box middle(const Size& image) {
  const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
  Index w = image.width, h = image.height;
  if (width / height < kNarrow) {
    h = rounded(width / kNarrow);
  } else if (width / height > kWide) {
    w = rounded(height * kWide);
  }
  return {(image.width - w) / 2, (image.height - h) / 2, w, h};
}

}  // namespace

Box random_crop(const Size& image, const CropScale& scale, const Draws& draws) {
  constexpr std::uint32_t kTrials = 10;
  const double whole = static_cast<double>(image.width) * static_cast<double>(image.height);
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    const std::uint32_t first = DrawNumber::crop + 4 * trial;
    const double area = whole * draws.between(first, scale.least, scale.most);
    // Uniform in the logarithm: narrow and wide crops are as frequent.
    const double ratio = std::exp(draws.between(first + 1, std::log(kNarrow), std::log(kWide)));
    const Index w = rounded(std::sqrt(area * ratio)), h = rounded(std::sqrt(area / ratio));
    if (w > 0 && w <= image.width && h > 0 && h <= image.height) {
      return {draws.below(first + 3, image.width - w + 1),
              draws.below(first + 2, image.height - h + 1), w, h};
    }
  }
  return middle(image);
}

}  // namespace mpitron::images
