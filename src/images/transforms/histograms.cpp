#include <algorithm>
#include <array>

#include "images/transforms/colour.h"

// Levels that follow from a picture's histogram.

namespace mpitron::images {
namespace {

using Table = std::array<std::uint8_t, 256>;
using Histogram = std::array<Index, 256>;

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

}  // namespace

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
