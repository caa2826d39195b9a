#include "images/codecs/webp.h"

#include <webp/decode.h>

#include "utils/error.h"

namespace mpitron::images {

Image decode_webp(Bytes file, const std::string& name) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(file.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, file.size(), &features) != VP8_STATUS_OK) {
    throw_data("{}: the header is damaged (libwebp)", name);
  }
  if (features.has_animation != 0) {
    throw_data("{}: an animated WebP file; give its frames as files", name);
  }
  check_size({features.width, features.height}, name);
  Image image(features.width, features.height);
  const auto* decoded =
      WebPDecodeRGBInto(data, file.size(), image.pixels.data(), image.pixels.size(),
                        static_cast<int>(image.width * kChannels));
  if (decoded == nullptr) {
    throw_data("{}: the file is damaged or truncated (libwebp)", name);
  }
  return image;
}

}  // namespace mpitron::images
