#include "images/augment/draws.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace draws_test {

TEST(Draws, AreUniformAndBelongToTheirPlace) {
  double sum = 0;
  for (Index sample = 0; sample < 2000; ++sample) {
    const Draws draws({.seed = 9, .sample = sample});
    const double drawn = draws.uniform(3);
    ASSERT_GE(drawn, 0);
    ASSERT_LT(drawn, 1);
    ASSERT_EQ(drawn, Draws({.seed = 9, .sample = sample}).uniform(3));
    ASSERT_LT(draws.below(4, 7), 7);
    sum += drawn;
  }
  EXPECT_NEAR(sum / 2000, 0.5, 0.03);
}

}  // namespace draws_test
}  // namespace mpitron::images
