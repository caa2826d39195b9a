#include "images/image.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace image_test {

TEST(Image, RowsFollowEachOther) {
  Image image(5, 3);
  EXPECT_EQ(image.pixels.size(), 5u * 3 * 3);
  image.row(2)[1] = 7;
  EXPECT_EQ(image.pixels[2 * 5 * 3 + 1], 7);
  const Box box = whole(image);
  EXPECT_EQ(box.width, 5);
  EXPECT_EQ(box.height, 3);
}

TEST(Image, NumbersAreHeldIn8Bits) {
  EXPECT_EQ(clamped(-1), 0);
  EXPECT_EQ(clamped(128), 128);
  EXPECT_EQ(clamped(256), 255);
}

}  // namespace image_test
}  // namespace mpitron::images
