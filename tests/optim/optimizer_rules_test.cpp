#include <cmath>

#include "optim/two_tensors.h"

namespace mpitron::optim {
namespace optimizer_rules_test {

using OptimizerRules = test::TwoTensors;

/// Adam's first step moves every element with a gradient by lr; decay is decoupled.
TEST_P(OptimizerRules, AdamTakesItsFirstStep) {
  Optimizer optimizer(*device_, config_, tensors());
  const StepResult result = step(optimizer);
  EXPECT_FALSE(result.skipped);
  EXPECT_NEAR(result.grad_norm, 5, 1e-6);
  expect_values(matrix_, {1 * 0.95 - 0.1, -2 * 0.95});
  expect_values(bias_, {0.5, 0.25 + 0.1});
}

TEST_P(OptimizerRules, AdamCorrectsItsBiasByTheNumberOfUpdates) {
  Optimizer optimizer(*device_, config_, tensors());
  step(optimizer);
  test::set_values(flat_, {-1, 0, 0, 0});
  step(optimizer);
  const double m = (0.9 * 0.1 * 3 + 0.1 * -1) / (1 - 0.81),
               v = (0.999 * 0.001 * 9 + 0.001 * 1) / (1 - 0.998001);
  const double first = 0.85;
  expect_values(matrix_, {first * 0.95 - 0.1 * m / (std::sqrt(v) + 1e-8), -2 * 0.95 * 0.95});
}

TEST_P(OptimizerRules, SgdWithMomentum) {
  config_.optimizer = config::OptimizerKind::sgd;
  config_.sgd_momentum = 0.5;
  Optimizer optimizer(*device_, config_, tensors());
  step(optimizer);
  // Decay is part of the gradient: 3 + 0.5 * 1 and 0 + 0.5 * -2.
  expect_values(matrix_, {1 - 0.1 * 3.5, -2 + 0.1});
  expect_values(bias_, {0.5, 0.25 + 0.4});
  test::set_values(flat_, {0, 0, 0, 0});
  step(optimizer);
  expect_values(bias_, {0.5, 0.65 + 0.2});
}

/// Lion moves matrices by the sign, Adam the bias.
TEST_P(OptimizerRules, LionTakesSignsOfMatrices) {
  config_.optimizer = config::OptimizerKind::lion;
  config_.lion_beta1 = 0.9, config_.lion_beta2 = 0.5;
  Optimizer optimizer(*device_, config_, tensors());
  step(optimizer);
  expect_values(matrix_, {1 * 0.95 - 0.1, -2 * 0.95});
  expect_values(bias_, {0.5, 0.25 + 0.1});
  test::set_values(flat_, {-1, 0, 0, 0});  // 0.9 * 1.5 - 0.1 * 1 > 0
  step(optimizer);
  expect_values(matrix_, {(1 * 0.95 - 0.1) * 0.95 - 0.1, -2 * 0.95 * 0.95});
}

INSTANTIATE_TEST_SUITE_P(Devices, OptimizerRules, ::testing::Values("reference", "host"));

}  // namespace optimizer_rules_test
}  // namespace mpitron::optim
