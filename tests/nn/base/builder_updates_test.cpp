#include <cmath>

#include <gtest/gtest.h>

#include "nn/base/builder.h"

namespace mpitron::nn {
namespace builder_updates_test {

TEST(BuilderUpdates, FactorsOfAWeightStartWithoutEffect) {
  config::ModelConfig config;
  config.num_layers = 2;
  autograd::ParameterList parameters;
  const comm::ParallelGroups groups = comm::groups_of_one(*comm::make_single_world());
  const Builder builder({config, groups, parameters}, "decoder.");
  const Builder::LowRankFactors factors = builder.low_rank_factors({12, 4}, 2, {}, {});
  EXPECT_EQ(factors.a.name, "decoder.lora_A.weight");
  EXPECT_EQ(factors.a.shape, (Shape{2, 4}));
  EXPECT_DOUBLE_EQ(factors.a.initialization.bound, 0.5);
  EXPECT_EQ(factors.b.shape, (Shape{12, 2}));
  EXPECT_NE(factors.b.initialization.kind, autograd::Initialization::Kind::uniform);
  EXPECT_TRUE(factors.b.role.low_rank);
}

}  // namespace builder_updates_test
}  // namespace mpitron::nn
