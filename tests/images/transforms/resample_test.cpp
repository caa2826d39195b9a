#include "images/transforms/resample.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace resample_test {

Image filled(Index width, Index height, std::uint8_t level) {
  Image image(width, height);
  std::fill(image.pixels.begin(), image.pixels.end(), level);
  return image;
}

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

TEST(Resample, AnotherPartOfAnImage) {
  Image image = filled(6, 4, 9);
  *(image.row(2) + 3 * 3) = 77;
  const Image part = crop(image, {3, 2, 2, 2});
  EXPECT_EQ(part.pixels[0], 77);
  EXPECT_EQ(part.pixels[1], 9);
}

}  // namespace resample_test
}  // namespace mpitron::images
