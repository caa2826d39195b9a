#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::images {

inline constexpr Index kChannels = 3;

/// Pixels of 8-bit RGB, rows from the top.
struct Image {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  // [height, width, 3]
  int orientation = 1;               // as EXIF tells it (1-8); pixels are as stored
  bool has_palette = false;          // as stored: PIL resizes such an image to nearest pixels
  bool lost_levels = false;          // 16-bit grey, of which the high byte is taken

  Image() = default;
  Image(Index w, Index h)
      : width(w), height(h), pixels(static_cast<std::size_t>(w * h * kChannels)) {}

  std::uint8_t* row(Index y) { return pixels.data() + y * width * kChannels; }
  const std::uint8_t* row(Index y) const { return pixels.data() + y * width * kChannels; }
};

/// A part of an image, in pixels.
struct Box {
  Index left = 0, top = 0, width = 0, height = 0;
};

inline Box whole(const Image& image) {
  return {0, 0, image.width, image.height};
}

struct Size {
  Index width = 0, height = 0;
};

/// Returns the nearest number of 8 bits: what lies outside becomes 0 or 255.
inline std::uint8_t clamped(Index value) {
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace mpitron::images
