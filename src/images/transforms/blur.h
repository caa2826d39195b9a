#pragma once
#include "images/image.h"

namespace mpitron::images {

/// Blurs by a Gaussian, approximated by three boxes along each axis (Gwosdek et al. 2011); pixels
/// of the edge go on outside.
///
/// Numerical contract: within one grey level of PIL's GaussianBlur; each box rounds to 8 bits.
Image blurred(const Image& image, double radius);

}  // namespace mpitron::images
