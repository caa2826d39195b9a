#include "ops/elementwise/soft_capped.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace soft_capped_test {

using SoftCappedTest = GradientCheck;

TEST_F(SoftCappedTest, BackwardIsTheGradient) {
  expect_gradients({random({3, 2, 4})}, [](Context& context, const std::vector<Var>& x) {
    return soft_capped(context, x[0], 0.5);
  });
}

TEST_F(SoftCappedTest, BoundsLargeNumbersAndLeavesSmallOnesAlone) {
  Context cx = context();
  const Var x =
      autograd::variable(test::make_tensor(*device_, {1, 3}, DType::f64, {1e-4, -90, 30}));
  const std::vector<double> y = test::values_of(soft_capped(cx, x, 30).value);
  EXPECT_NEAR(y[0], 1e-4, 1e-10);  // the factors are of fp32
  EXPECT_NEAR(y[1], -30 * std::tanh(3.0), 1e-6);
  EXPECT_NEAR(y[2], 30 * std::tanh(1.0), 1e-6);
}

}  // namespace soft_capped_test
}  // namespace mpitron::ops
