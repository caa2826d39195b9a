#pragma once
#include "images/image.h"

namespace mpitron::images {

// Affine transforms of images; pixels from outside the image are grey (128), as in AutoAugment.
//
// Numerical contract: within one grey level of PIL's transform.

/// Moves rows to the left by `slope` times their distance from the top; bicubic.
Image sheared(const Image& image, double slope);
/// Rotates about the centre, counter-clockwise; nearest pixels.
Image rotated(const Image& image, double degrees);

}  // namespace mpitron::images
