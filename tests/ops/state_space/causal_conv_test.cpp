#include "ops/state_space/causal_conv.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace causal_conv_test {

using CausalConvTest = GradientCheck;

TEST_F(CausalConvTest, BackwardIsTheGradient) {
  Parameter &weight = parameter({3, 1, 4}), &bias = parameter({3});
  expect_gradients({random({6, 2, 3})}, [&](Context& context, const std::vector<Var>& x) {
    return causal_conv(context, x[0], weight, &bias);
  });
}

TEST_F(CausalConvTest, BackwardWithoutABias) {
  Parameter& weight = parameter({2, 1, 3});
  expect_gradients({random({2, 1, 2})}, [&](Context& context, const std::vector<Var>& x) {
    return causal_conv(context, x[0], weight, nullptr);
  });
}

}  // namespace causal_conv_test
}  // namespace mpitron::ops
