#include "images/transforms/resample.h"

#include <gtest/gtest.h>

#include "images/transforms/filled.h"

namespace mpitron::images {
namespace resample_test {

TEST(Resample, OneColourStaysOneColour) {
  for (const Filter filter : {Filter::bilinear, Filter::bicubic}) {
    for (const Size size : {Size{7, 3}, {40, 90}, {1, 1}, {16, 16}}) {
      const Image result = resize(filled(16, 16, 201), size, filter);
      EXPECT_EQ(result.pixels, filled(size.width, size.height, 201).pixels);
    }
  }
}

TEST(Resample, HalvingTakesTheMeanOfNeighbours) {
  Image image(4, 1);
  for (Index x = 0; x < 4; ++x) {
    std::fill_n(image.row(0) + 3 * x, 3, static_cast<std::uint8_t>(40 * x));
  }
  // Triangles of width 2: 3/8 of the two nearest pixels, 1/8 of their neighbours, cut at the edge.
  const Image half = resize(image, {2, 1}, Filter::bilinear);
  EXPECT_EQ(half.pixels[0], 29);  // (0 * 3 + 40 * 3 + 80) / 7
  EXPECT_EQ(half.pixels[3], 91);
}

}  // namespace resample_test
}  // namespace mpitron::images
