#include <gtest/gtest.h>

#include "images/transforms/colour.h"
#include "images/transforms/filled.h"

namespace mpitron::images {
namespace hue_test {

TEST(Hue, GreyHasNone) {
  const Image grey_image = filled(3, 2, 90);
  EXPECT_EQ(hue_shifted(grey_image, 0.3).pixels, grey_image.pixels);
}

TEST(Hue, AThirdOfATurnMakesRedGreen) {
  Image red = filled(1, 1, 0);
  red.pixels[0] = 255;
  const Image green = hue_shifted(red, 1.0 / 3);
  EXPECT_EQ(green.pixels[0], 0);
  EXPECT_EQ(green.pixels[1], 255);
  EXPECT_EQ(green.pixels[2], 0);
}

}  // namespace hue_test
}  // namespace mpitron::images
