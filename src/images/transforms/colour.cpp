#include "images/transforms/colour.h"

#include <algorithm>
#include <array>
#include <cmath>

// Operations on colours with PIL's integers and roundings.

namespace mpitron::images {
namespace {

using Table = std::array<std::uint8_t, 256>;

/// Replaces every number by f(number), by way of a table.
template <class Function>
Image mapped(const Image& image, const Function& function) {
  Table table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = clamped(static_cast<Index>(function(static_cast<Index>(i))));
  }
  Image result = image;
  for (std::uint8_t& value : result.pixels) {
    value = table[value];
  }
  return result;
}

/// Makes every number from(i) + factor (itself - from(i)), clamped and truncated: a loop without
/// branches, which the compiler makes vectors of.
template <class From>
Image blended(Image image, double factor, const From& from) {
  const auto share = static_cast<float>(factor);
  std::uint8_t* const numbers = image.pixels.data();
  for (std::size_t i = 0, count = image.pixels.size(); i < count; ++i) {
    const int begin = from(i);
    const float value = static_cast<float>(begin) +
                        share * static_cast<float>(static_cast<int>(numbers[i]) - begin);
    numbers[i] = static_cast<std::uint8_t>(static_cast<int>(std::min(255.f, std::max(0.f, value))));
  }
  return image;
}

Image blended(const Image& from, const Image& to, double factor) {
  const std::uint8_t* const numbers = from.pixels.data();
  return blended(to, factor, [numbers](std::size_t i) -> int { return numbers[i]; });
}

Image blended(std::uint8_t from, const Image& to, double factor) {
  return blended(to, factor, [from](std::size_t) -> int { return from; });
}

/// Returns the mean of 3 x 3 pixels, of which the middle one counts five times; the border stays.
Image smoothed(const Image& image) {
  Image result = image;
  const Index step = kChannels;
  for (Index y = 1; y + 1 < image.height; ++y) {
    const std::uint8_t *above = image.row(y - 1), *here = image.row(y), *below = image.row(y + 1);
    for (Index i = step; i < (image.width - 1) * step; ++i) {
      int sum = 4 * here[i];
      for (const Index j : {i - step, i, i + step}) {
        sum += above[j] + here[j] + below[j];
      }
      result.row(y)[i] = static_cast<std::uint8_t>(static_cast<float>(sum) / 13 + 0.5f);
    }
  }
  return result;
}

}  // namespace

/// Weighs by 0.299, 0.587 and 0.114 in 16 bits of fraction (ITU-R 601, PIL's L).
std::vector<std::uint8_t> grey_levels(const Image& image) {
  std::vector<std::uint8_t> levels(image.pixels.size() / kChannels);
  // Local addresses: a byte that is stored might otherwise change them.
  const std::uint8_t* const rgb = image.pixels.data();
  std::uint8_t* const to = levels.data();
  for (std::size_t i = 0, count = levels.size(); i < count; ++i) {
    const std::uint8_t* const pixel = rgb + i * kChannels;
    to[i] = static_cast<std::uint8_t>(
        (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16);
  }
  return levels;
}

Image grey(const Image& image) {
  const std::vector<std::uint8_t> levels = grey_levels(image);
  Image result(image.width, image.height);
  std::uint8_t* const to = result.pixels.data();
  for (std::size_t i = 0, count = levels.size(); i < count; ++i) {
    const std::uint8_t level = levels[i];
    to[i * kChannels] = to[i * kChannels + 1] = to[i * kChannels + 2] = level;
  }
  return result;
}

Image brightened(const Image& image, double factor) {
  return blended(std::uint8_t{0}, image, factor);
}

/// Blends with the mean grey of the image, rounded, as ImageEnhance.Contrast does.
Image contrasted(const Image& image, double factor) {
  const std::vector<std::uint8_t> levels = grey_levels(image);
  Index sum = 0;
  for (const std::uint8_t level : levels) {
    sum += level;
  }
  const double mean = static_cast<double>(sum) / static_cast<double>(levels.size());
  return blended(static_cast<std::uint8_t>(mean + 0.5), image, factor);
}

Image saturated(const Image& image, double factor) {
  return blended(grey(image), image, factor);
}

Image sharpened(const Image& image, double factor) {
  return blended(smoothed(image), image, factor);
}

Image solarised(const Image& image, double threshold) {
  return mapped(image, [threshold](Index level) {
    return static_cast<double>(level) < threshold ? level : 255 - level;
  });
}

Image inverted(const Image& image) {
  return mapped(image, [](Index level) { return 255 - level; });
}

/// Keeps the highest `bits` bits.
Image posterised(const Image& image, int bits) {
  return mapped(image, [bits](Index level) { return level & ~((Index{1} << (8 - bits)) - 1); });
}

}  // namespace mpitron::images
