#include "config/recompute_config.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace recompute_config_test {

TEST(RecomputeConfig, ModulesCountWhenRecomputationIsSelective) {
  RecomputeConfig config;
  config.recompute_modules = {RecomputeModule::mlp};
  EXPECT_FALSE(config.recomputes(RecomputeModule::mlp));
  config.recompute_granularity = RecomputeGranularity::selective;
  EXPECT_TRUE(config.recomputes(RecomputeModule::mlp));
  EXPECT_FALSE(config.recomputes(RecomputeModule::moe));
}

}  // namespace recompute_config_test
}  // namespace mpitron::config
