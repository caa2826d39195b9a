#include "images/codecs/formats.h"
#include "utils/error.h"

namespace mpitron::images {

Image decode_png(Bytes, const std::string& name, Index) {
  throw_environment("{}: this program was built without libpng, which reads PNG files", name);
}

std::string encode_png(const Image&) {
  throw_environment("this program was built without libpng, which writes PNG files");
}

}  // namespace mpitron::images
