#include "ops/elementwise/scaled.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace scaled_test {

using ScaledTest = GradientCheck;

TEST_F(ScaledTest, BackwardIsTheGradient) {
  expect_gradients({random({3, 2, 4})}, [](Context& context, const std::vector<Var>& x) {
    return scaled(context, x[0], -2.5);
  });
}

TEST_F(ScaledTest, LeavesItsInputAlone) {
  Context cx = context();
  const Var x = autograd::variable(test::make_tensor(*device_, {1, 2}, DType::f64, {1, -3}));
  EXPECT_EQ(test::values_of(scaled(cx, x, 2).value), (std::vector<double>{2, -6}));
  EXPECT_EQ(test::values_of(x.value), (std::vector<double>{1, -3}));
}

}  // namespace scaled_test
}  // namespace mpitron::ops
