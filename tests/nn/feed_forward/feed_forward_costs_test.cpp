#include "nn/feed_forward/feed_forward_costs.h"

#include <gtest/gtest.h>

namespace mpitron::nn {
namespace feed_forward_costs_test {

TEST(FeedForwardCosts, ATokenVisitsSomeExpertsButAllHaveWeights) {
  config::ModelConfig model;
  model.hidden_size = 4;
  model.ffn_hidden_size = 16;
  EXPECT_EQ(mlp_costs(model).weights, 2 * 4 * 16);
  EXPECT_EQ(mlp_costs(model).multiply_adds, 2 * 4 * 16);
  model.gated_linear_unit = true;
  EXPECT_EQ(mlp_costs(model).weights, 3 * 4 * 16);
  model.moe = config::MoeConfig{
      .num_experts = 8, .ffn_hidden_size = 6, .shared_expert_intermediate_size = 10};
  model.moe->topk = 2;
  EXPECT_EQ(experts_costs(model).weights, 3 * 4 * (8 * 6 + 10));
  EXPECT_EQ(experts_costs(model).multiply_adds, 3 * 4 * (2 * 6 + 10));
}

}  // namespace feed_forward_costs_test
}  // namespace mpitron::nn
