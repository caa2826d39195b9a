#include "utils/numbers/median.h"

#include <gtest/gtest.h>

namespace mpitron {

TEST(Median, IsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 100}), 3);
}

}  // namespace mpitron
