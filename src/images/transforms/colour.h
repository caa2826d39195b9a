#pragma once
#include "images/image.h"

namespace mpitron::images {

// Changes of colours, as PIL makes them (ImageEnhance, ImageOps, torchvision's hue).
//
// Numerical contract: within one grey level of PIL; each function rounds to 8 bits.

/// Returns (R * 19595 + G * 38470 + B * 7471 + 2^15) >> 16 of every pixel, [height, width].
std::vector<std::uint8_t> grey_levels(const Image& image);
/// Returns an image with that level in all three channels.
Image grey(const Image& image);

// Away from (factor > 1) or towards (factor < 1) black, the mean grey, grey, a smoothed image.
Image brightened(const Image& image, double factor);
Image contrasted(const Image& image, double factor);
Image saturated(const Image& image, double factor);
Image sharpened(const Image& image, double factor);

/// Turns the hue by `shift` of a whole turn, in steps of 1 / 255.
Image hue_shifted(const Image& image, double shift);

/// Inverts values from `threshold` on.
Image solarised(const Image& image, double threshold);
Image inverted(const Image& image);
/// Keeps the high bits of every number.
Image posterised(const Image& image, int bits);
/// Stretches every channel to 0-255.
Image autocontrasted(const Image& image);
/// Levels every channel's histogram.
Image equalised(const Image& image);

}  // namespace mpitron::images
