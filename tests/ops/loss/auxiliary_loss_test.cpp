#include "ops/loss/auxiliary_loss.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace auxiliary_loss_test {

using AuxiliaryLossTest = GradientCheck;

TEST_F(AuxiliaryLossTest, TheLossGetsItsSeedWhenTheActivationGetsItsGradient) {
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::variable(random({3})), loss = autograd::variable(random({1}));
  const Var y = with_auxiliary_loss(cx, x, loss, 0.25);
  EXPECT_EQ(y.value.view().data, x.value.view().data);
  tape.backward(cx, y.slot, test::make_tensor(*device_, {3}, DType::f64, {1, 2, 3}));
  EXPECT_EQ(test::values_of(x.slot.gradient()), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(test::values_of(loss.slot.gradient()), std::vector<double>{0.25});
}

TEST_F(AuxiliaryLossTest, ALossOfEveryTokenHasASeedForEach) {
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::variable(random({2})), loss = autograd::variable(random({2}));
  const Var y =
      with_auxiliary_loss(cx, x, loss, test::make_tensor(*device_, {2}, DType::f64, {0.5, 0}));
  tape.backward(cx, y.slot, test::make_tensor(*device_, {2}, DType::f64, {1, 1}));
  EXPECT_EQ(test::values_of(loss.slot.gradient()), (std::vector<double>{0.5, 0}));
}

TEST_F(AuxiliaryLossTest, WithoutATapeItIsTheActivation) {
  Context cx = context();
  const Var x = autograd::variable(random({3})), loss = autograd::variable(random({1}));
  EXPECT_EQ(with_auxiliary_loss(cx, x, loss, 1.0).value.view().data, x.value.view().data);
}

}  // namespace auxiliary_loss_test
}  // namespace mpitron::ops
