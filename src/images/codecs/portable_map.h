#pragma once
#include "images/codecs/decode.h"

namespace mpitron::images {

/// As `decode`, of a PPM or PGM file with numbers of 8 bits in binary form (P5, P6).
Image decode_portable_map(Bytes file, const std::string& name, Index most_pixels);

/// The image as a PPM file.
std::string portable_map(const Image& image);

}  // namespace mpitron::images
