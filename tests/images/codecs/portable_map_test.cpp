#include <gtest/gtest.h>

#include "images/codecs/formats.h"

namespace mpitron::images {
namespace portable_map_test {

Image drawn(Index width, Index height) {
  Image image(width, height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>(i * 7);
  }
  return image;
}

Image decoded(const std::string& file, const std::string& name = "x") {
  return decode(std::as_bytes(std::span(file)), name);
}

TEST(PortableMap, APortableMapIsReadBack) {
  const Image image = drawn(5, 3);
  const Image again = decoded(portable_map(image));
  EXPECT_EQ(again.width, 5);
  EXPECT_EQ(again.height, 3);
  EXPECT_EQ(again.pixels, image.pixels);
}

TEST(PortableMap, GreyMapsBecomeRgb) {
  EXPECT_EQ(decoded("P5\n# two pixels\n2 1\n255\n\x10\x20").pixels,
            (std::vector<std::uint8_t>{16, 16, 16, 32, 32, 32}));
}

}  // namespace portable_map_test
}  // namespace mpitron::images
