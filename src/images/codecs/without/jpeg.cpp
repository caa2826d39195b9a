#include "images/codecs/formats.h"
#include "utils/error.h"

// Stands in for codecs/jpeg.cpp in a build without libjpeg-turbo.

namespace mpitron::images {

Image decode_jpeg(Bytes, const std::string& name, Index) {
  throw_environment("{}: this program was built without libjpeg-turbo, which reads JPEG files",
                    name);
}

}  // namespace mpitron::images
