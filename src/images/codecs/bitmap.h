#pragma once
#include "images/codecs/decode.h"

namespace mpitron::images {

/// A BMP file without compression, of 8 bits with a palette, 24 or 32 bits.
Image decode_bitmap(Bytes file, const std::string& name, Index most_pixels);

}  // namespace mpitron::images
