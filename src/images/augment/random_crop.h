#pragma once
#include "images/augment/draws.h"
#include "images/image.h"

namespace mpitron::images {

/// Shares of the image's area that a crop may have.
struct CropScale {
  double least = 0.08, most = 1;
};

/// Returns a part of the image with an aspect ratio from 3/4 to 4/3 (torchvision's
/// RandomResizedCrop); after ten trials without one that fits, the middle.
Box random_crop(const Size& image, const CropScale& scale, const Draws& draws);

}  // namespace mpitron::images
