#include "nn/state_space/state_space_costs.h"

#include <gtest/gtest.h>

namespace mpitron::nn {
namespace state_space_costs_test {

TEST(StateSpaceCosts, AStateIsThatOfTheHeadsAndTheEndOfTheConvolution) {
  config::ModelConfig model;
  model.hidden_size = 8;
  model.hybrid.mamba = {.state_dim = 4, .head_dim = 2, .groups = 1, .heads = 8};
  EXPECT_EQ(mamba_costs(model).state, 16 * 4 + 3 * (16 + 2 * 4));
  model.hybrid.delta_net = {
      .conv_width = 4, .key_dim = 2, .value_dim = 3, .key_heads = 1, .value_heads = 2};
  EXPECT_EQ(delta_net_costs(model).state, 2 * 6 + 3 * (2 * 2 + 6));
}

}  // namespace state_space_costs_test
}  // namespace mpitron::nn
