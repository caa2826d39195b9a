#include "images/codecs/formats.h"
#include "utils/error.h"

namespace mpitron::images {

Image decode_jpeg(Bytes, const std::string& name, Index) {
  throw_environment("{}: this program was built without libjpeg-turbo, which reads JPEG files",
                    name);
}

}  // namespace mpitron::images
