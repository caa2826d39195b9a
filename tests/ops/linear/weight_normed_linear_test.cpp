#include "ops/linear/weight_normed_linear.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace weight_normed_linear_test {

class WeightNormedLinearTest : public GradientCheck {};

TEST_F(WeightNormedLinearTest, BackwardIsTheGradient) {
  Parameter &direction = parameter({4, 3}), &length = parameter({4, 1});
  expect_gradients({random({2, 2, 3})}, [&](Context& context, const std::vector<Var>& x) {
    return weight_normed_linear(context, x[0], direction, length);
  });
}

TEST_F(WeightNormedLinearTest, RowsAreAsLongAsTheyAreSaidTo) {
  Parameter &direction = parameter({1, 2}), &length = parameter({1, 1});
  test::set_values(direction.value, {3, 4});
  test::set_values(length.value, {10});
  length.role.frozen = true;
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::variable(test::make_tensor(*device_, {1, 2}, DType::f64, {1, 1}));
  const Var y = weight_normed_linear(cx, x, direction, length);
  EXPECT_NEAR(test::values_of(y.value)[0], 14, 1e-12);
  tape.backward(cx, y.slot, test::make_tensor(*device_, {1, 1}, DType::f64, {1}));
  EXPECT_FALSE(length.sink.written);
  EXPECT_TRUE(direction.sink.written);
}

}  // namespace weight_normed_linear_test
}  // namespace mpitron::ops
