#include <gtest/gtest.h>

#include "images/transforms/colour.h"
#include "images/transforms/filled.h"

namespace mpitron::images {
namespace histograms_test {

TEST(Histograms, ContrastIsStretchedToTheEnds) {
  Image image = filled(2, 1, 101);
  image.pixels[0] = 50;
  const Image result = autocontrasted(image);
  EXPECT_EQ(result.pixels[0], 0);
  EXPECT_EQ(result.pixels[3], 255);
  EXPECT_EQ(result.pixels[1], 101);
}

}  // namespace histograms_test

}  // namespace mpitron::images
