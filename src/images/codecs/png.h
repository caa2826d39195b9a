#pragma once
#include "images/codecs/decode.h"

namespace mpitron::images {

/// As `decode`, of a PNG file, by libpng.
Image decode_png(Bytes file, const std::string& name, Index most_pixels);

/// The image as a PNG file of 8-bit RGB.
std::string encode_png(const Image& image);

}  // namespace mpitron::images
