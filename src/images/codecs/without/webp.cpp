#include "images/codecs/formats.h"
#include "utils/error.h"

// Stands in for codecs/webp.cpp in a build without libwebp.

namespace mpitron::images {

Image decode_webp(Bytes, const std::string& name, Index) {
  throw_environment("{}: this program was built without libwebp, which reads WebP files", name);
}

}  // namespace mpitron::images
