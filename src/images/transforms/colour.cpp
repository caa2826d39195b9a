#include "images/transforms/colour.h"

#include <algorithm>
#include <array>
#include <cmath>

// Operations on colours with PIL's integers and roundings.

namespace mpitron::images {
namespace {

using Table = std::array<std::uint8_t, 256>;
using Histogram = std::array<Index, 256>;

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

/// Replaces numbers by a table of its own for every channel: make(histogram).
template <class Make>
Image mapped_by_channel(const Image& image, const Make& make) {
  Image result = image;
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    Histogram histogram{};
    for (std::size_t i = channel; i < image.pixels.size(); i += kChannels) {
      ++histogram[image.pixels[i]];
    }
    const Table table = make(histogram);
    for (std::size_t i = channel; i < image.pixels.size(); i += kChannels) {
      result.pixels[i] = table[image.pixels[i]];
    }
  }
  return result;
}

Table identity() {
  Table table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<std::uint8_t>(i);
  }
  return table;
}

/// Returns from + factor (to - from), clamped and truncated.
std::uint8_t blended(std::uint8_t from, std::uint8_t to, double factor) {
  const float value =
      static_cast<float>(from) + static_cast<float>(factor) * static_cast<float>(to - from);
  return static_cast<std::uint8_t>(value <= 0 ? 0 : value >= 255 ? 255 : value);
}

Image blended(Image from, const Image& to, double factor) {
  std::ranges::transform(
      from.pixels, to.pixels, from.pixels.begin(),
      [factor](std::uint8_t a, std::uint8_t b) { return blended(a, b, factor); });
  return from;
}

Image constant(const Image& image, std::uint8_t level) {
  Image result = image;
  std::ranges::fill(result.pixels, level);
  return result;
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

/// Pixels that are worked on together, each channel by itself: loops without branches, which the
/// compiler makes vectors of.
constexpr std::size_t kBlock = 256;

struct Channels {
  std::int32_t first[kBlock], second[kBlock], third[kBlock];
};

/// Converts RGB to PIL's HSV of 8 bits each; PIL's mixture of float and double, to the bit.
void to_hsv(Channels& pixels) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const std::int32_t r = pixels.first[i], g = pixels.second[i], b = pixels.third[i];
    const std::int32_t largest = std::max(std::max(r, g), b), least = std::min(std::min(r, g), b);
    const bool coloured = largest != least;
    const float range = coloured ? static_cast<float>(largest - least) : 1.f;
    const double red = static_cast<double>(static_cast<float>(largest - r) / range);
    const double green = static_cast<double>(static_cast<float>(largest - g) / range);
    const double blue = static_cast<double>(static_cast<float>(largest - b) / range);
    const auto turn = static_cast<float>(r == largest   ? blue - green
                                         : g == largest ? 2 + red - blue
                                                        : 4 + green - red);
    // From -1/6 + 1 to 5/6 + 1: the remainder by 1.
    const double turned = static_cast<double>(turn) / 6 + 1;
    const auto hue = static_cast<float>(turned >= 1 ? turned - 1 : turned);
    const float saturation = range / (coloured ? static_cast<float>(largest) : 1.f);
    pixels.first[i] = coloured ? static_cast<std::int32_t>(static_cast<double>(hue) * 255) : 0;
    pixels.second[i] =
        coloured ? static_cast<std::int32_t>(static_cast<double>(saturation) * 255) : 0;
    pixels.third[i] = largest;
  }
}

/// Rounds half away from zero, for numbers that are not negative.
std::int32_t rounded_half_up(double value) {
  const auto whole = static_cast<std::int32_t>(value);
  return whole + (value - whole >= 0.5 ? 1 : 0);
}

/// Converts PIL's HSV back, by the sector of the colour circle; a hue of 255 is the whole turn,
/// sector 6, which is sector 0.
void to_rgb(Channels& pixels) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const double sixth = pixels.first[i] * 6.0 / 255.0;
    const auto sector = static_cast<std::int32_t>(sixth);
    const auto part = static_cast<double>(static_cast<float>(sixth - sector));
    const auto saturation = static_cast<double>(static_cast<float>(pixels.second[i] / 255.0));
    const std::int32_t v = pixels.third[i];
    const std::int32_t p = rounded_half_up(v * (1 - saturation));
    const std::int32_t q = rounded_half_up(v * (1 - saturation * part));
    const std::int32_t t = rounded_half_up(v * (1 - saturation * (1 - part)));
    const std::int32_t at = sector == 6 ? 0 : sector;
    pixels.first[i] = at == 0 || at == 5 ? v : at == 1 ? q : at == 4 ? t : p;
    pixels.second[i] = at == 1 || at == 2 ? v : at == 0 ? t : at == 3 ? q : p;
    pixels.third[i] = at == 3 || at == 4 ? v : at == 2 ? t : at == 5 ? q : p;
  }
}

}  // namespace

/// Weighs by 0.299, 0.587 and 0.114 in 16 bits of fraction (ITU-R 601, PIL's L).
std::vector<std::uint8_t> grey_levels(const Image& image) {
  std::vector<std::uint8_t> levels(image.pixels.size() / kChannels);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::uint8_t* rgb = image.pixels.data() + i * kChannels;
    levels[i] =
        static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
  }
  return levels;
}

Image grey(const Image& image) {
  const std::vector<std::uint8_t> levels = grey_levels(image);
  Image result(image.width, image.height);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      result.pixels[i * kChannels + channel] = levels[i];
    }
  }
  return result;
}

Image brightened(const Image& image, double factor) {
  return blended(constant(image, 0), image, factor);
}

/// Blends with the mean grey of the image, rounded, as ImageEnhance.Contrast does.
Image contrasted(const Image& image, double factor) {
  const std::vector<std::uint8_t> levels = grey_levels(image);
  Index sum = 0;
  for (const std::uint8_t level : levels) {
    sum += level;
  }
  const double mean = static_cast<double>(sum) / static_cast<double>(levels.size());
  return blended(constant(image, static_cast<std::uint8_t>(mean + 0.5)), image, factor);
}

Image saturated(const Image& image, double factor) {
  return blended(grey(image), image, factor);
}

Image sharpened(const Image& image, double factor) {
  return blended(smoothed(image), image, factor);
}

/// Adds shift * 255 to the hue, modulo 256, as torchvision does on PIL images; `shift` is a share
/// of the circle.
Image hue_shifted(const Image& image, double shift) {
  const std::int32_t steps = static_cast<std::int32_t>(shift * 255) & 0xFF;
  Image result(image.width, image.height);
  const std::size_t pixels = image.pixels.size() / kChannels;
  Channels block = {};
  for (std::size_t begin = 0; begin < pixels; begin += kBlock) {
    const std::size_t count = std::min(kBlock, pixels - begin);
    const std::uint8_t* from = image.pixels.data() + begin * kChannels;
    for (std::size_t i = 0; i < count; ++i) {
      block.first[i] = from[i * kChannels];
      block.second[i] = from[i * kChannels + 1];
      block.third[i] = from[i * kChannels + 2];
    }
    to_hsv(block);
    for (std::int32_t& hue : block.first) {
      hue = (hue + steps) & 0xFF;
    }
    to_rgb(block);
    std::uint8_t* to = result.pixels.data() + begin * kChannels;
    for (std::size_t i = 0; i < count; ++i) {
      to[i * kChannels] = static_cast<std::uint8_t>(block.first[i]);
      to[i * kChannels + 1] = static_cast<std::uint8_t>(block.second[i]);
      to[i * kChannels + 2] = static_cast<std::uint8_t>(block.third[i]);
    }
  }
  return result;
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

/// Stretches each channel from its least and largest level to 0 and 255; a channel of one level
/// stays.
Image autocontrasted(const Image& image) {
  return mapped_by_channel(image, [](const Histogram& histogram) {
    Table table = identity();
    const auto some = [](Index count) { return count > 0; };
    const auto least = std::ranges::find_if(histogram, some) - histogram.begin();
    const auto largest =
        255 - (std::find_if(histogram.rbegin(), histogram.rend(), some) - histogram.rbegin());
    if (largest > least) {
      const double scale = 255.0 / static_cast<double>(largest - least);
      const double offset = -static_cast<double>(least) * scale;
      for (std::size_t i = 0; i < table.size(); ++i) {
        table[i] = clamped(static_cast<Index>(static_cast<double>(i) * scale + offset));
      }
    }
    return table;
  });
}

/// The last level that occurs does not count in the step: PIL leaves it out.
Image equalised(const Image& image) {
  return mapped_by_channel(image, [](const Histogram& histogram) {
    Table table = identity();
    Index sum = 0, last = 0;
    for (const Index count : histogram) {
      sum += count;
      last = count > 0 ? count : last;
    }
    const Index step = (sum - last) / 255;
    if (step == 0) {
      return table;
    }
    Index below = step / 2;
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] = clamped(below / step);
      below += histogram[i];
    }
    return table;
  });
}

}  // namespace mpitron::images
