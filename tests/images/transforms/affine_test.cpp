#include "images/transforms/affine.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace affine_test {

Image filled(Index width, Index height, std::uint8_t level) {
  Image image(width, height);
  std::fill(image.pixels.begin(), image.pixels.end(), level);
  return image;
}

TEST(Affine, WhatComesFromOutsideIsGrey) {
  EXPECT_EQ(rotated(filled(9, 9, 3), 45).pixels[0], 128);
  EXPECT_EQ(sheared(filled(9, 9, 3), 0.9).row(8)[8 * 3], 128);
  EXPECT_EQ(rotated(filled(9, 9, 3), 45).row(4)[4 * 3], 3);
}

TEST(Affine, AQuarterTurnMovesTheTopToTheLeft) {
  Image image = filled(3, 3, 0);
  *(image.row(0) + 3) = 50;
  EXPECT_EQ(*rotated(image, 90).row(1), 50);
}

}  // namespace affine_test
}  // namespace mpitron::images
