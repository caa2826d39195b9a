#include "images/codecs/formats.h"
#include "utils/error.h"

// Stands in for codecs/png.cpp in a build without libpng.

namespace mpitron::images {

Image decode_png(Bytes, const std::string& name, Index) {
  throw_environment("{}: this program was built without libpng, which reads PNG files", name);
}

std::string encode_png(const Image&) {
  throw_environment("this program was built without libpng, which writes PNG files");
}

}  // namespace mpitron::images
