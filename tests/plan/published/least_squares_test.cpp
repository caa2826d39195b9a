#include "plan/published/least_squares.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace least_squares_test {

TEST(LeastSquares, SymmetricEquationsAreSolved) {
  std::vector<double> x = {8, 7};
  ASSERT_TRUE(solve_symmetric({4, 1, 1, 3}, x));
  EXPECT_NEAR(x[0], 17.0 / 11, 1e-12);
  EXPECT_NEAR(x[1], 20.0 / 11, 1e-12);
  std::vector<double> none = {1, 1};
  EXPECT_FALSE(solve_symmetric({1, 2, 2, 1}, none));
}

}  // namespace least_squares_test
}  // namespace mpitron::plan
