#include "images/transforms/colour.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mpitron::images {
namespace {

using Table = std::array<std::uint8_t, 256>;
using Histogram = std::array<Index, 256>;

/// f(level) of every number.
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

/// A table of its own for every channel: make(histogram).
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

/// from + factor (to - from), clamped and truncated.
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

/// The mean of 3 x 3 pixels, of which the middle one counts five times; the border stays.
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

/// PIL's HSV of 8 bits each.
struct Hsv {
  std::uint8_t hue = 0, saturation = 0, value = 0;
};

Hsv to_hsv(const std::uint8_t* rgb) {
  const int r = rgb[0], g = rgb[1], b = rgb[2];
  const int largest = std::max({r, g, b}), least = std::min({r, g, b});
  Hsv result{.value = static_cast<std::uint8_t>(largest)};
  if (largest == least) {
    return result;
  }
  // PIL's mixture of float and double, to the bit.
  const auto range = static_cast<float>(largest - least);
  const auto below = [&](int channel) -> double {
    return static_cast<double>(static_cast<float>(largest - channel) / range);
  };
  const auto turn = static_cast<float>(r == largest   ? below(b) - below(g)
                                       : g == largest ? 2 + below(r) - below(b)
                                                      : 4 + below(g) - below(r));
  const auto hue = static_cast<float>(std::fmod(static_cast<double>(turn) / 6 + 1, 1.0));
  const float saturation = range / static_cast<float>(largest);
  result.hue = static_cast<std::uint8_t>(static_cast<double>(hue) * 255);
  result.saturation = static_cast<std::uint8_t>(static_cast<double>(saturation) * 255);
  return result;
}

void to_rgb(const Hsv& hsv, std::uint8_t* rgb) {
  const double sixth = hsv.hue * 6.0 / 255.0;
  const int sector = static_cast<int>(sixth);
  const auto part = static_cast<double>(static_cast<float>(sixth - sector));
  const auto saturation = static_cast<double>(static_cast<float>(hsv.saturation / 255.0));
  const auto level = [&](double lost) {
    return clamped(static_cast<Index>(std::round(hsv.value * (1 - lost))));
  };
  const std::uint8_t v = hsv.value, p = level(saturation), q = level(saturation * part),
                     t = level(saturation * (1 - part));
  const std::array<std::array<std::uint8_t, 3>, 6> sectors{
      {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}}};
  std::ranges::copy(sectors[static_cast<std::size_t>(sector % 6)], rgb);
}

}  // namespace

std::vector<std::uint8_t> grey_levels(const Image& image) {
  std::vector<std::uint8_t> levels;
  levels.reserve(image.pixels.size() / kChannels);
  for (std::size_t i = 0; i < image.pixels.size(); i += kChannels) {
    const std::uint8_t* rgb = image.pixels.data() + i;
    levels.push_back(static_cast<std::uint8_t>(
        (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16));
  }
  return levels;
}

Image grey(const Image& image) {
  const std::vector<std::uint8_t> levels = grey_levels(image);
  Image result(image.width, image.height);
  for (std::size_t i = 0; i < result.pixels.size(); ++i) {
    result.pixels[i] = levels[i / kChannels];
  }
  return result;
}

Image brightened(const Image& image, double factor) {
  return blended(constant(image, 0), image, factor);
}

Image contrasted(const Image& image, double factor) {
  const std::vector<std::uint8_t> levels = grey_levels(image);
  double sum = 0;
  for (const std::uint8_t level : levels) {
    sum += level;
  }
  const double mean = sum / static_cast<double>(levels.size());
  return blended(constant(image, static_cast<std::uint8_t>(mean + 0.5)), image, factor);
}

Image saturated(const Image& image, double factor) {
  return blended(grey(image), image, factor);
}

Image sharpened(const Image& image, double factor) {
  return blended(smoothed(image), image, factor);
}

Image hue_shifted(const Image& image, double shift) {
  const auto steps = static_cast<std::uint8_t>(static_cast<int>(shift * 255) & 0xFF);
  Image result(image.width, image.height);
  for (std::size_t i = 0; i < image.pixels.size(); i += kChannels) {
    Hsv hsv = to_hsv(image.pixels.data() + i);
    hsv.hue = static_cast<std::uint8_t>(hsv.hue + steps);
    to_rgb(hsv, result.pixels.data() + i);
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

Image posterised(const Image& image, int bits) {
  return mapped(image, [bits](Index level) { return level & ~((Index{1} << (8 - bits)) - 1); });
}

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
