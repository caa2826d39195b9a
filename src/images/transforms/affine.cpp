#include "images/transforms/affine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

// Shears and rotations by mapping each pixel of the result back into the image, with PIL's
// interpolation.

namespace mpitron::images {
namespace {

constexpr std::uint8_t kOutside = 128;

/// Interpolates between b and c by Keys' cubic with a = -1.
double cubic(const std::array<double, 4>& v, double part) {
  const auto [a, b, c, d] = v;
  const double p2 = c - a, p3 = 2 * (a - b) + c - d, p4 = b - a - c + d;
  return b + part * (p2 + part * (p3 + part * p4));
}

/// Returns the level around x of a row, between four pixels; the edge goes on outside.
std::uint8_t between(const std::uint8_t* row, Index width, double x) {
  const auto first = static_cast<Index>(std::floor(x));
  std::array<double, 4> values;
  for (Index i = 0; i < 4; ++i) {
    values[static_cast<std::size_t>(i)] =
        row[std::clamp<Index>(first - 1 + i, 0, width - 1) * kChannels];
  }
  const double value = cubic(values, x - static_cast<double>(first));
  return static_cast<std::uint8_t>(value <= 0 ? 0 : value >= 255 ? 255 : value);
}

}  // namespace

Image sheared(const Image& image, double slope) {
  Image result(image.width, image.height);
  const auto width = static_cast<double>(image.width);
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      const double from = static_cast<double>(x) + 0.5 + slope * (static_cast<double>(y) + 0.5);
      for (Index channel = 0; channel < kChannels; ++channel) {
        result.row(y)[x * kChannels + channel] =
            from < 0 || from >= width ? kOutside
                                      : between(image.row(y) + channel, image.width, from - 0.5);
      }
    }
  }
  return result;
}

Image rotated(const Image& image, double degrees) {
  const double angle = -degrees * std::numbers::pi / 180;
  const double c = std::cos(angle), s = std::sin(angle);
  const double cx = static_cast<double>(image.width) / 2,
               cy = static_cast<double>(image.height) / 2;
  Image result(image.width, image.height);
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      const double dx = static_cast<double>(x) + 0.5 - cx, dy = static_cast<double>(y) + 0.5 - cy;
      const auto from_x = static_cast<Index>(std::floor(c * dx + s * dy + cx));
      const auto from_y = static_cast<Index>(std::floor(-s * dx + c * dy + cy));
      const bool inside =
          from_x >= 0 && from_x < image.width && from_y >= 0 && from_y < image.height;
      for (Index channel = 0; channel < kChannels; ++channel) {
        result.row(y)[x * kChannels + channel] =
            inside ? image.row(from_y)[from_x * kChannels + channel] : kOutside;
      }
    }
  }
  return result;
}

}  // namespace mpitron::images
