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

namespace columns_test {

class ColumnsTest : public GradientCheck {};

TEST_F(ColumnsTest, BackwardOfBothPartsIsTheGradient) {
  expect_gradients({random({2, 3, 5})}, [](Context& context, const std::vector<Var>& x) {
    const auto [left, right] = split_columns(context, x[0], 2);
    return join_columns(context, right, left);
  });
}

TEST_F(ColumnsTest, APartWithoutAGradientCountsAsZeros) {
  for (const bool use_left : {false, true}) {
    expect_gradients({random({2, 3, 5})}, [&](Context& context, const std::vector<Var>& x) {
      const auto [left, right] = split_columns(context, x[0], 2);
      return use_left ? left : right;
    });
  }
}

TEST_F(ColumnsTest, PartsAreCopiesInOrder) {
  const Tensor x = test::make_tensor(*device_, {2, 3}, DType::f64, {1, 2, 3, 4, 5, 6});
  Context cx = context();
  const auto [left, right] = split_columns(cx, autograd::constant(x), 1);
  EXPECT_EQ(test::values_of(left.value), (std::vector<double>{1, 4}));
  EXPECT_EQ(test::values_of(right.value), (std::vector<double>{2, 3, 5, 6}));
  EXPECT_EQ(test::values_of(join_columns(cx, right, left).value),
            (std::vector<double>{2, 3, 1, 5, 6, 4}));
}

}  // namespace columns_test
}  // namespace mpitron::ops
