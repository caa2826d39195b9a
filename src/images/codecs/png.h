#pragma once
#include "images/codecs/decode.h"

namespace mpitron::images {

/// As `decode`, of a PNG file, by libpng.
Image decode_png(Bytes file, const std::string& name);

}  // namespace mpitron::images
