#include "ops/elementwise/norm.h"
#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace norm_kernels_test {

using NormKernels = GradientCheck;

TEST_F(NormKernels, KeepTheMeanOnlyWithLayerNorm) {
  const Tensor x = random({3, 4}), y = random({3, 4});
  Context cx = context();
  const NormStatistics rms = norm_forward(cx, {.rms = true}, {.x = x, .y = y});
  EXPECT_FALSE(rms.mean);
  EXPECT_EQ(rms.rstd.shape(), Shape{3});
  const NormStatistics layer =
      norm_forward(cx, {.gamma = &parameter({4}), .beta = &parameter({4})}, {.x = x, .y = y});
  EXPECT_EQ(layer.mean.shape(), Shape{3});
}

/// Gradients that must be rounded to half precision first go through buffers, and so do those of
/// which only one was written before (a weight shared by two norms).
TEST_F(NormKernels, RoundedAndUnequallyWrittenSinksAgreeWithDirectOnes) {
  const Tensor x = random({3, 4}), dy = random({3, 4}), dx = random({3, 4});
  const auto gradients = [&](bool round, bool beta_first) {
    Parameter gamma, beta;
    for (Parameter* p : {&gamma, &beta}) {
      p->value = test::make_tensor(*device_, {4}, DType::f32, {1, 2, 3, 4});
      p->sink.main_grad = test::make_tensor(*device_, {4}, DType::f32, {NAN, NAN, NAN, NAN});
      p->sink.rounds = round;
    }
    if (beta_first) {
      test::set_values(beta.sink.main_grad, {0, 0, 0, 0});
      beta.sink.written = true;
    }
    const NormParameters parameters{.gamma = &gamma, .beta = &beta};
    Context cx = context();
    const NormStatistics statistics = norm_forward(cx, parameters, {.x = x, .y = dx});
    norm_backward(cx, parameters, statistics, {.x = x, .dy = dy, .dx_add = {}, .dx = dx});
    EXPECT_TRUE(gamma.sink.written && beta.sink.written);
    return std::pair(test::values_of(gamma.sink.main_grad), test::values_of(beta.sink.main_grad));
  };
  const auto direct = gradients(false, false);
  EXPECT_EQ(gradients(true, false), direct);  // fp32 parameters: rounding to fp32 changes nothing
  EXPECT_EQ(gradients(false, true), direct);
  EXPECT_TRUE(std::isfinite(direct.first[0]));
}

}  // namespace norm_kernels_test
}  // namespace mpitron::ops
