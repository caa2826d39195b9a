#include "optim/optimizer.h"

#include <cmath>

#include "optim/two_tensors.h"

namespace mpitron::optim {
namespace optimizer_test {

using OptimizerTest = test::TwoTensors;

/// The norm is that of the unscaled gradients, and clipping makes it 1.
TEST_P(OptimizerTest, ClipsByTheGlobalNormOfTheUnscaledGradients) {
  config_.optimizer = config::OptimizerKind::sgd;
  config_.sgd_momentum = 0;
  config_.clip_grad = 1;
  config_.weight_decay = config_.start_weight_decay = config_.end_weight_decay = 0;
  Optimizer optimizer(*device_, config_, tensors());
  EXPECT_NEAR(step(optimizer, 0.5f).grad_norm, 2.5, 1e-6);
  expect_values(matrix_, {1 - 0.1 * 0.6, -2});
  expect_values(bias_, {0.5, 0.25 + 0.1 * 0.8});
  // Below the limit nothing is clipped.
  step(optimizer, 0.1f);
  expect_values(matrix_, {1 - 0.1 * 0.6 - 0.1 * 0.3, -2});
}

TEST_P(OptimizerTest, AnOverflowSkipsTheUpdateAndDoesNotCount) {
  Optimizer optimizer(*device_, config_, tensors());
  for (const double bad : {static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    test::set_values(flat_, {bad, 0, 0, -4});
    EXPECT_TRUE(step(optimizer, 1, true).skipped);
    expect_values(matrix_, {1, -2}, 0);
    expect_values(bias_, {0.5, 0.25}, 0);
  }
  test::set_values(flat_, {3, 0, 0, -4});
  EXPECT_FALSE(step(optimizer, 1, true).skipped);
  expect_values(bias_, {0.5, 0.25 + 0.1});  // still Adam's first step
}

INSTANTIATE_TEST_SUITE_P(Devices, OptimizerTest, ::testing::Values("reference", "host"));

}  // namespace optimizer_test

}  // namespace mpitron::optim
