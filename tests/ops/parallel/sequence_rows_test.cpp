#include "ops/parallel/sequence_rows.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace sequence_rows_test {

class SequenceRowsTest : public GradientCheck {};

TEST_F(SequenceRowsTest, TakenRowsSendTheirGradientBackToTheirPlace) {
  expect_gradients({random({5, 2, 3})}, [](Context& context, const std::vector<Var>& x) {
    return take_rows(context, x[0], 1, 4);
  });
}

TEST_F(SequenceRowsTest, JoinedRowsGetTheirOwnGradients) {
  expect_gradients(
      {random({2, 2, 3}), random({4, 2, 3})},
      [](Context& context, const std::vector<Var>& x) { return join_rows(context, x[0], x[1]); });
}

TEST_F(SequenceRowsTest, WhatWasJoinedComesApartAgain) {
  const Tensor a = random({2, 1, 3}), b = random({4, 1, 3});
  Context cx = context();
  const Var both = join_rows(cx, autograd::variable(a), autograd::variable(b));
  EXPECT_EQ(both.shape(), (Shape{6, 1, 3}));
  EXPECT_EQ(test::values_of(take_rows(cx, both, 0, 2).value), test::values_of(a));
  EXPECT_EQ(test::values_of(take_rows(cx, both, 2, 6).value), test::values_of(b));
}

}  // namespace sequence_rows_test
}  // namespace mpitron::ops
