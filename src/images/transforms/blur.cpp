#include "images/transforms/blur.h"

#include <algorithm>
#include <cmath>

// A Gaussian blur by running sums over boxes: the time does not depend on the radius.

namespace mpitron::images {
namespace {

constexpr int kPasses = 3;
constexpr int kBoxBits = 24;  // of a weight, behind the point

/// Weights of the pixels inside a box of a real radius, and of the two just outside.
struct BoxWeights {
  Index radius = 0;
  std::uint32_t inner = 0, outer = 0;

  explicit BoxWeights(float real) : radius(static_cast<Index>(real)) {
    inner = static_cast<std::uint32_t>(static_cast<float>(1 << kBoxBits) / (real * 2 + 1));
    outer = ((1U << kBoxBits) - static_cast<std::uint32_t>(radius * 2 + 1) * inner) / 2;
  }
};

/// Returns the real radius of a box, three of which have the variance of the Gaussian (Gwosdek et
/// al. 2011), as PIL computes it.
float box_radius(double gaussian) {
  const double sigma2 = gaussian * gaussian / kPasses;
  const double length = std::sqrt(12 * sigma2 + 1);
  const double l = std::floor((length - 1) / 2);
  const double a = (2 * l + 1) * (l * (l + 1) - 3 * sigma2) / (6 * (sigma2 - (l + 1) * (l + 1)));
  return static_cast<float>(l + a);
}

/// One channel of one row or column: `n` numbers, `stride` apart.
struct Line {
  std::uint8_t* first;
  Index n, stride;
};

void blur(const Line& line, const BoxWeights& weights, std::vector<std::uint8_t>& copy) {
  copy.resize(static_cast<std::size_t>(line.n));
  for (Index i = 0; i < line.n; ++i) {
    copy[static_cast<std::size_t>(i)] = line.first[i * line.stride];
  }
  const auto at = [&](Index i) -> std::uint32_t {
    return copy[static_cast<std::size_t>(std::clamp<Index>(i, 0, line.n - 1))];
  };
  std::uint32_t sum = 0;
  for (Index i = -weights.radius - 1; i < weights.radius; ++i) {
    sum += at(i);
  }
  for (Index i = 0; i < line.n; ++i) {
    sum += at(i + weights.radius) - at(i - weights.radius - 1);
    const std::uint32_t edges = at(i - weights.radius - 1) + at(i + weights.radius + 1);
    line.first[i * line.stride] = static_cast<std::uint8_t>(
        (sum * weights.inner + edges * weights.outer + (1U << (kBoxBits - 1))) >> kBoxBits);
  }
}

}  // namespace

Image blurred(const Image& image, double radius) {
  const BoxWeights weights(box_radius(radius));
  Image result = image;
  std::vector<std::uint8_t> copy;
  const auto blur_all = [&](Index lines, Index pitch, Index n, Index stride) {
    for (Index i = 0; i < lines * kChannels; ++i) {
      std::uint8_t* first =
          result.pixels.data() + i / kChannels * pitch * kChannels + i % kChannels;
      for (int pass = 0; pass < kPasses; ++pass) {
        blur({first, n, stride * kChannels}, weights, copy);
      }
    }
  };
  blur_all(image.height, image.width, image.width, 1);
  blur_all(image.width, 1, image.height, image.width);
  return result;
}

}  // namespace mpitron::images
