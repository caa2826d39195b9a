#include "ops/elementwise/reshape.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace reshape_test {

using ReshapeTest = GradientCheck;

TEST_F(ReshapeTest, SharesMemoryAndGradient) {
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::variable(random({2, 3}));
  const Var y = reshape(cx, x, {6, 1});
  EXPECT_EQ(y.value.view().data, x.value.view().data);
  EXPECT_EQ(y.shape(), (Shape{6, 1}));
  tape.backward(cx, y.slot, test::make_tensor(*device_, {6, 1}, DType::f64, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(x.slot.gradient().shape(), (Shape{2, 3}));
  EXPECT_EQ(test::values_of(x.slot.gradient()), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

}  // namespace reshape_test
}  // namespace mpitron::ops
