#include <limits>

#include <gtest/gtest.h>

#include "config/rules/constraint.h"

namespace mpitron::config {
namespace nearest_values_test {

TEST(NearestValues, NearestLegalValues) {
  EXPECT_EQ(nearest_multiples("num-layers", 46, 4), "--num-layers 44 | --num-layers 48");
  EXPECT_EQ(nearest_multiples("num-layers", 3, 4), "--num-layers 4");
  EXPECT_EQ(nearest_divisors("x", 46, 4), "--x 2 | --x 23");
  EXPECT_EQ(nearest_divisors("x", 12, 5), "--x 4 | --x 6");
  EXPECT_EQ(nearest_divisors("x", 0, 5), "");
  EXPECT_EQ(nearest_divisors("x", 1'000'000'000'000, 999'999'999'999),
            "--x 500000000000 | --x 1000000000000");
  EXPECT_EQ(nearest_divisors("x", 64, std::numeric_limits<Index>::max()), "--x 64");
  EXPECT_EQ(nearest_divisors("x", 67, 4), "--x 1");
}

TEST(NearestValues, NumbersThatARuleAllows) {
  const auto odd = [](Index n) { return n % 2 == 1 && n < 10; };
  EXPECT_EQ(nearest_legal("x", 4, odd), "--x 3 | --x 5");
  EXPECT_EQ(nearest_legal("x", 11, odd), "--x 9");
  EXPECT_EQ(nearest_legal("x", 0, odd), "--x 1");
  EXPECT_EQ(nearest_legal("x", 4, [](Index) { return false; }), "");
}

}  // namespace nearest_values_test

}  // namespace mpitron::config
