#include <cstring>
#include <memory>

#include <webp/decode.h>
#include <webp/demux.h>

#include "images/codecs/formats.h"
#include "utils/error.h"

// WebP by libwebp. Animations are decoded by another part of the library; their first frame counts.

namespace mpitron::images {

namespace {

/// Decodes the first frame on its canvas, without its alpha.
Image first_frame(Bytes file, const std::string& name) {
  const WebPData data{reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
  WebPAnimDecoderOptions options;
  WebPAnimDecoderOptionsInit(&options);
  const std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)> decoder(
      WebPAnimDecoderNew(&data, &options), WebPAnimDecoderDelete);
  WebPAnimInfo info;
  std::uint8_t* canvas = nullptr;
  int time = 0;
  if (decoder == nullptr || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0 ||
      WebPAnimDecoderGetNext(decoder.get(), &canvas, &time) == 0) {
    throw_data("{}: the animation is damaged or truncated (libwebp)", name);
  }
  Image image(info.canvas_width, info.canvas_height);
  constexpr std::size_t kWithAlpha = 4;
  for (std::size_t i = 0; i < image.pixels.size() / kChannels; ++i) {
    std::memcpy(image.pixels.data() + i * kChannels, canvas + i * kWithAlpha, kChannels);
  }
  return image;
}

}  // namespace

/// Reads the size first: nothing is unpacked of an image that is too large.
Image decode_webp(Bytes file, const std::string& name, Index most_pixels) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(file.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, file.size(), &features) != VP8_STATUS_OK) {
    throw_data("{}: the header is damaged (libwebp)", name);
  }
  check_size({features.width, features.height}, name, most_pixels);
  if (features.has_animation != 0) {
    return first_frame(file, name);
  }
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
