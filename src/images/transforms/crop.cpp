#include <algorithm>

#include "images/transforms/resample.h"

// Pictures whose pixels are copied: crops, mirrors and the nearest pixels of another size.

namespace mpitron::images {

Image crop(const Image& image, const Box& box) {
  Image result(box.width, box.height);
  for (Index y = 0; y < box.height; ++y) {
    std::copy_n(image.row(box.top + y) + box.left * kChannels, box.width * kChannels,
                result.row(y));
  }
  return result;
}

Image mirrored(const Image& image) {
  Image result(image.width, image.height);
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      std::copy_n(image.row(y) + x * kChannels, kChannels,
                  result.row(y) + (image.width - 1 - x) * kChannels);
    }
  }
  return result;
}

Image resize_to_nearest(const Image& image, const Size& size) {
  Image result(size.width, size.height);
  const auto source = [](Index at, Index from, Index to) {
    return static_cast<Index>((static_cast<double>(at) + 0.5) * static_cast<double>(from) /
                              static_cast<double>(to));
  };
  for (Index y = 0; y < size.height; ++y) {
    const std::uint8_t* from = image.row(source(y, image.height, size.height));
    for (Index x = 0; x < size.width; ++x) {
      std::copy_n(from + source(x, image.width, size.width) * kChannels, kChannels,
                  result.row(y) + x * kChannels);
    }
  }
  return result;
}

}  // namespace mpitron::images
