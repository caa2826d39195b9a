#pragma once
#include "images/image.h"

namespace mpitron::images {

enum class Filter { bilinear, bicubic };

/// Resizes `box` of the image, with antialiasing.
///
/// Numerical contract: PIL's 8-bit resampling, to the bit. Horizontal pass first, each pass rounded
/// to 8 bits; weights of 22 bits behind the point; a pass that changes no size is left out.
Image resize(const Image& image, const Box& box, const Size& size, Filter filter);
inline Image resize(const Image& image, const Size& size, Filter filter) {
  return resize(image, whole(image), size, filter);
}

/// Resizes to nearest pixels: each is that of the image at its middle. PIL resizes a palette so.
Image resize_to_nearest(const Image& image, const Size& size);

Image crop(const Image& image, const Box& box);
/// Exchanges left and right.
Image mirrored(const Image& image);

}  // namespace mpitron::images
