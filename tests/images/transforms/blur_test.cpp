#include "images/transforms/blur.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace blur_test {

Image filled(Index width, Index height, std::uint8_t level) {
  Image image(width, height);
  std::fill(image.pixels.begin(), image.pixels.end(), level);
  return image;
}

TEST(Blur, OneColourStays) {
  EXPECT_EQ(blurred(filled(9, 5, 100), 1.5).pixels, filled(9, 5, 100).pixels);
}

TEST(Blur, APointIsSpreadEvenly) {
  Image image = filled(9, 9, 0);
  *(image.row(4) + 4 * 3) = 255;
  const Image result = blurred(image, 1);
  EXPECT_EQ(result.row(4)[3 * 3], result.row(4)[5 * 3]);
  EXPECT_EQ(result.row(3)[4 * 3], result.row(5)[4 * 3]);
  EXPECT_LT(result.row(4)[4 * 3], 60);
  EXPECT_EQ(result.row(4)[4 * 3 + 1], 0);
}

}  // namespace blur_test
}  // namespace mpitron::images
