#include "ops/elementwise/activation.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace activation_test {

class ActivationTest : public GradientCheck,
                       public ::testing::WithParamInterface<std::tuple<Activation, bool, bool>> {
 protected:
  Activation kind_ = std::get<0>(GetParam());
  bool gated_ = std::get<1>(GetParam()), with_bias_ = std::get<2>(GetParam());
};

TEST_P(ActivationTest, BackwardIsTheGradient) {
  Parameter* bias = with_bias_ ? &parameter({6}) : nullptr;
  expect_gradients({random({2, 2, 6})}, [&](Context& context, const std::vector<Var>& x) {
    return activation(context, x[0], bias, {.activation = kind_, .gated = gated_});
  });
}

TEST_P(ActivationTest, HalvesTheWidthWhereGated) {
  Context cx = context();
  const Var y = activation(cx, autograd::variable(random({2, 2, 6})), nullptr,
                           {.activation = kind_, .gated = gated_});
  EXPECT_EQ(y.shape(), (Shape{2, 2, gated_ ? 3 : 6}));
}

INSTANTIATE_TEST_SUITE_P(
    All, ActivationTest,
    ::testing::Combine(::testing::Values(Activation::gelu_tanh, Activation::gelu_erf,
                                         Activation::silu, Activation::squared_relu,
                                         Activation::tanh),
                       ::testing::Bool(), ::testing::Bool()));

/// dy is still needed by another consumer: the gradient may not be computed in place.
TEST(ActivationBackward, LeavesASharedGradientAlone) {
  const auto device = device::make_device("reference");
  Tape tape;
  Context context{.device = *device, .recorder = {.tape = &tape}};
  const Var x = autograd::variable(test::random_tensor(*device, {2, 4}, DType::f64, 1));
  const Var y = activation(context, x, nullptr, {});
  const Tensor dy = test::random_tensor(*device, {2, 4}, DType::f64, 2);
  const std::vector<double> before = test::values_of(dy);
  tape.backward(context, y.slot, dy);
  EXPECT_EQ(test::values_of(dy), before);
}

}  // namespace activation_test
}  // namespace mpitron::ops
