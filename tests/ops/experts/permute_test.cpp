#include "ops/experts/permute.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace permute_test {

class PermuteTest : public GradientCheck {
 protected:
  Tensor rows() { return test::make_ids(*device_, {5}, {2, 0, 2, -1, 1}); }
};

TEST_F(PermuteTest, BackwardIsTheGradient) {
  expect_gradients({random({4, 3})}, [&](Context& context, const std::vector<Var>& x) {
    return permute(context, x[0], rows());
  });
}

TEST_F(PermuteTest, TheWayBackIsItsConjugate) {
  expect_gradients({random({5, 3})}, [&](Context& context, const std::vector<Var>& y) {
    return unpermute(context, y[0], rows(), 4);
  });
}

TEST_F(PermuteTest, ScaledRowsBackwardIsTheGradient) {
  expect_gradients({random({4, 3}), random({4})}, [](Context& context, const std::vector<Var>& x) {
    return scale_rows(context, x[0], x[1]);
  });
}

TEST_F(PermuteTest, NobodyTravels) {
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::variable(random({2, 3}));
  const Tensor nowhere = test::make_ids(*device_, {0}, {});
  const Var y = permute(cx, x, nowhere);
  EXPECT_EQ(y.shape(), (Shape{0, 3}));
  const Var back = unpermute(cx, y, nowhere, 2);
  EXPECT_EQ(test::values_of(back.value), std::vector<double>(6, 0));
  tape.backward(cx, back.slot, random({2, 3}));
  EXPECT_EQ(test::values_of(x.slot.gradient()), std::vector<double>(6, 0));
}

/// x is made again for the factors' gradient where it comes with a recipe.
TEST_F(PermuteTest, ScaledRowsCanBeMadeAgain) {
  Tape tape;
  Context cx = context(&tape);
  const Tensor kept = random({4, 3});
  int made = 0;
  const Var factors = autograd::variable(random({4}));
  const autograd::Recomputable x(autograd::variable(kept), [&made, kept](Context&) {
    ++made;
    return kept;
  });
  const Var y = scale_rows(cx, x, factors);
  EXPECT_EQ(made, 0);
  tape.backward(cx, y.slot, random({4, 3}));
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(factors.slot.gradient());
}

}  // namespace permute_test
}  // namespace mpitron::ops
