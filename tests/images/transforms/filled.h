#pragma once
#include <algorithm>
#include <cstdint>

#include "images/image.h"
#include "images/transforms/colour.h"

// Pictures of one colour.

namespace mpitron::images {

inline Image filled(Index width, Index height, std::uint8_t level) {
  Image image(width, height);
  std::fill(image.pixels.begin(), image.pixels.end(), level);
  return image;
}

}  // namespace mpitron::images
