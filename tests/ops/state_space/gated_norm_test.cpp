#include "ops/state_space/gated_norm.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace gated_norm_test {

using GatedNormTest = GradientCheck;

TEST_F(GatedNormTest, BackwardIsTheGradientWithTheGateInFront) {
  Parameter& weight = parameter({6});
  expect_gradients({random({3, 2, 6}), random({3, 2, 6})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return gated_norm(context, x[0], x[1], {.weight = &weight, .groups = 2});
                   });
}

/// Each row has two heads, which share a weight.
TEST_F(GatedNormTest, BackwardIsTheGradientWithTheGateBehind) {
  Parameter& weight = parameter({3});
  expect_gradients({random({3, 2, 6}), random({3, 2, 6})}, [&](Context& context,
                                                               const std::vector<Var>& x) {
    return gated_norm(context, x[0], x[1], {.weight = &weight, .eps = 1e-3f, .gate_first = false});
  });
}

}  // namespace gated_norm_test
}  // namespace mpitron::ops
