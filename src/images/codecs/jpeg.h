#pragma once
#include "images/codecs/decode.h"

namespace mpitron::images {

/// As `decode`, of a JPEG file, by libjpeg-turbo.
Image decode_jpeg(Bytes file, const std::string& name, Index most_pixels);

}  // namespace mpitron::images
