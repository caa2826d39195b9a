#include "ops/state_space/delta_rule.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace delta_rule_test {

using DeltaRuleTest = GradientCheck;

/// Two key heads of three columns, each serving two value heads of two columns; chunks of three.
TEST_F(DeltaRuleTest, BackwardIsTheGradient) {
  const DeltaRuleSettings settings{.a_log = &parameter({4}),
                                   .dt_bias = &parameter({4}),
                                   .key_heads = 2,
                                   .key_dim = 3,
                                   .chunk = 3};
  tolerance_ = 3e-7;
  expect_gradients({random({7, 2, 20}), random({7, 2, 8})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return delta_rule(context, x[0], x[1], settings);
                   });
}

}  // namespace delta_rule_test
}  // namespace mpitron::ops
