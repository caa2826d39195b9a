#include <algorithm>

#include "images/transforms/colour.h"

// Hues, by way of HSV.

namespace mpitron::images {
namespace {

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

}  // namespace mpitron::images
