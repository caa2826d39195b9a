#include "images/transforms/colour.h"

#include <gtest/gtest.h>

#include "images/transforms/filled.h"

namespace mpitron::images {
namespace colour_test {

TEST(Colour, FactorsOfOneChangeNothing) {
  Image image = filled(4, 4, 90);
  image.pixels[5] = 200;
  for (const Image& same : {brightened(image, 1), contrasted(image, 1), saturated(image, 1),
                            sharpened(image, 1), hue_shifted(filled(4, 4, 90), 0.3)}) {
    EXPECT_EQ(same.pixels.size(), image.pixels.size());
  }
  EXPECT_EQ(brightened(image, 1).pixels, image.pixels);
  EXPECT_EQ(saturated(image, 1).pixels, image.pixels);
  EXPECT_EQ(hue_shifted(filled(4, 4, 90), 0.3).pixels, filled(4, 4, 90).pixels);
}

TEST(Colour, TablesAreAsTheirNames) {
  EXPECT_EQ(inverted(filled(1, 1, 3)).pixels[0], 252);
  EXPECT_EQ(posterised(filled(1, 1, 0xFF), 4).pixels[0], 0xF0);
  EXPECT_EQ(solarised(filled(1, 1, 128), 128).pixels[0], 127);
  EXPECT_EQ(solarised(filled(1, 1, 127), 128).pixels[0], 127);
  EXPECT_EQ(equalised(filled(9, 5, 100)).pixels, filled(9, 5, 100).pixels);
}

}  // namespace colour_test

}  // namespace mpitron::images
