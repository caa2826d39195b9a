#pragma once
#include "images/codecs/decode.h"

namespace mpitron::images {

/// How a camera was held, 1 (upright) to 8, from the bytes of an APP1 marker (Exif 2.32, section
/// 4.6.4, tag 0x0112); 1 where they do not tell.
int exif_orientation(Bytes marker);

}  // namespace mpitron::images
