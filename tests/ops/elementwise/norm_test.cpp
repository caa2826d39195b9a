#include "ops/elementwise/norm.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace norm_test {

class NormTest : public GradientCheck {
 protected:
  void check(const NormParameters& parameters) {
    expect_gradients({random({2, 2, 5})}, [&](Context& context, const std::vector<Var>& x) {
      return norm(context, x[0], parameters, DType::f64);
    });
  }
};

TEST_F(NormTest, LayerNormBackwardIsTheGradient) {
  check({.gamma = &parameter({5}), .beta = &parameter({5})});
}
TEST_F(NormTest, ZeroCentredLayerNormBackwardIsTheGradient) {
  check({.gamma = &parameter({5}), .beta = &parameter({5}), .gamma_offset = 1});
}
TEST_F(NormTest, RmsNormBackwardIsTheGradient) {
  check({.gamma = &parameter({5}), .rms = true});
}
TEST_F(NormTest, ZeroCentredRmsNormBackwardIsTheGradient) {
  check({.gamma = &parameter({5}), .gamma_offset = 1, .rms = true});
}
TEST_F(NormTest, PlainRmsNormBackwardIsTheGradient) {
  check({.eps = 1e-3f, .rms = true});
}

/// 1p: gamma stored as 0 is a factor of 1.
TEST_F(NormTest, ZeroCentredWeightsOfZeroNormaliseOnly) {
  Parameter &gamma = parameter({4}), &beta = parameter({4});
  test::set_values(gamma.value, {0, 0, 0, 0});
  test::set_values(beta.value, {0, 0, 0, 0});
  Context cx = context();
  const Var x = autograd::variable(test::make_tensor(*device_, {1, 4}, DType::f64, {1, 1, -1, -1}));
  const std::vector<double> y = test::values_of(
      norm(cx, x, {.gamma = &gamma, .beta = &beta, .eps = 0, .gamma_offset = 1}, DType::f64).value);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(y[i], i < 2 ? 1 : -1, 1e-12);
  }
}

/// An fp32 residual stream into a bf16 layer: the output is rounded once, the gradient that comes
/// back is fp32.
TEST_F(NormTest, AWideResidualGivesAHalfPrecisionOutputAndAWideGradient) {
  Parameter gamma;
  gamma.value = test::random_tensor(*device_, {8}, DType::bf16, 1);
  gamma.sink.main_grad = Tensor::empty(*device_, {8}, DType::f32);
  Tape tape;
  Context cx = context(&tape);
  const Tensor wide = test::random_tensor(*device_, {3, 8}, DType::f32, 2);
  const Var x = autograd::variable(wide);
  const NormParameters parameters{.gamma = &gamma, .rms = true};
  const Var y = norm(cx, x, parameters, DType::bf16);
  EXPECT_EQ(y.value.dtype(), DType::bf16);
  const Tensor exact = norm(cx, x, parameters, DType::f32).value;
  const std::vector<double> rounded = test::values_of(y.value), expected = test::values_of(exact);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(rounded[i], expected[i], std::abs(expected[i]) * 0x1p-8 + 1e-30);
  }
  tape.backward(cx, y.slot, test::random_tensor(*device_, {3, 8}, DType::bf16, 3));
  EXPECT_EQ(x.slot.gradient().dtype(), DType::f32);
  EXPECT_EQ(test::values_of(wide), test::values_of(x.value));
}

}  // namespace norm_test
}  // namespace mpitron::ops
