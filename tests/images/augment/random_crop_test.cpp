#include "images/augment/random_crop.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace random_crop_test {

TEST(RandomCrop, CropsKeepTheirLimits) {
  const Size size{60, 40};
  double least = 1, most = 0;
  for (Index sample = 0; sample < 500; ++sample) {
    const Box box = random_crop(size, {0.08, 1}, Draws({.sample = sample}));
    ASSERT_GE(box.left, 0);
    ASSERT_GE(box.top, 0);
    ASSERT_LE(box.left + box.width, size.width);
    ASSERT_LE(box.top + box.height, size.height);
    const double share = static_cast<double>(box.width * box.height) / 2400;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  EXPECT_LT(least, 0.12);
  EXPECT_GT(least, 0.06);
  EXPECT_GT(most, 0.85);
}

TEST(RandomCrop, ACropOfALongImageIsItsMiddle) {
  const Box box = random_crop({400, 1}, {1, 1}, Draws({}));
  EXPECT_EQ(box.width, 1);
  EXPECT_EQ(box.height, 1);
}

}  // namespace random_crop_test
}  // namespace mpitron::images
