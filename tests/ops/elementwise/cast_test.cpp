#include "ops/elementwise/cast.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace cast_test {

using CastTest = GradientCheck;

TEST_F(CastTest, TheSameTypeIsTheSameVar) {
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::variable(random({4}));
  EXPECT_EQ(cast(cx, x, DType::f64).value.view().data, x.value.view().data);
  EXPECT_EQ(tape.size(), 0u);
}

/// There and back is the identity for values that both types hold, and so is its gradient.
TEST_F(CastTest, BackwardIsTheGradient) {
  Tape tape;
  Context cx = context(&tape);
  const Var x =
      autograd::variable(test::make_tensor(*device_, {3}, DType::f32, {1, 1 + 0x1p-10, -3}));
  const Var y = cast(cx, x, DType::bf16);
  EXPECT_EQ(test::values_of(y.value), (std::vector<double>{1, 1, -3}));
  tape.backward(cx, y.slot, test::make_tensor(*device_, {3}, DType::bf16, {0.5, 2, -1}));
  EXPECT_EQ(x.slot.gradient().dtype(), DType::f32);
  EXPECT_EQ(test::values_of(x.slot.gradient()), (std::vector<double>{0.5, 2, -1}));
}

/// Rounding is to nearest, ties to even, once.
TEST_F(CastTest, RoundsOnce) {
  Context cx = context();
  const Var x = autograd::variable(test::make_tensor(
      *device_, {3}, DType::f32, {1 + 0x1p-8, 1 + 3 * 0x1p-8, 1 + 0x1p-8 + 0x1p-20}));
  EXPECT_EQ(test::values_of(cast(cx, x, DType::bf16).value),
            (std::vector<double>{1, 1 + 0x1p-6, 1 + 0x1p-7}));
}

}  // namespace cast_test
}  // namespace mpitron::ops
