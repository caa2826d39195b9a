#pragma once
#include "images/codecs/decode.h"

namespace mpitron::images {

/// As `decode`, of a WebP file, by libwebp.
Image decode_webp(Bytes file, const std::string& name, Index most_pixels);

}  // namespace mpitron::images
