#include <gtest/gtest.h>

#include "images/codecs/formats.h"

namespace mpitron::images {
namespace png_test {

TEST(Png, ReadsWhatItWrote) {
  Image image(7, 5);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>(i * 37);
  }
  const std::string file = encode_png(image);
  const Image read = decode(std::as_bytes(std::span(file)), "x");
  EXPECT_EQ(read.pixels, image.pixels);
  EXPECT_EQ(read.width, 7);
}

}  // namespace png_test
}  // namespace mpitron::images
