#include <gtest/gtest.h>

#include "train/parity/replay.h"

namespace mpitron::train {
namespace replay_comparison_test {

TEST(ReplayComparison, AllowsOtherExpertsInHalfPrecisionOnly) {
  config::ModelConfig model;
  model.moe.emplace().bias_update_rate = 0.01;
  EXPECT_EQ(ReplayTolerance::of(model).buffers, 0);
  EXPECT_EQ(ReplayTolerance::of(model).layer_losses, ReplayTolerance().layer_losses);
  model.params_dtype = DType::bf16;
  EXPECT_GT(ReplayTolerance::of(model).buffers, 0.01);
  EXPECT_GT(ReplayTolerance::of(model).layer_losses, ReplayTolerance().layer_losses);
  EXPECT_LT(ReplayTolerance::of(model).loss, 1e-2);
  const ReplayTolerance half = ReplayTolerance::of(model);
  model.moe->sinkhorn = true;
  EXPECT_EQ(ReplayTolerance::of(model).layer_losses, half.layer_losses);
}

}  // namespace replay_comparison_test

}  // namespace mpitron::train
