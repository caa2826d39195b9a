#include "nn/attention/attention_costs.h"

#include <gtest/gtest.h>

namespace mpitron::nn {
namespace attention_costs_test {

config::ModelConfig model() {
  config::ModelConfig model;
  model.hidden_size = 16;
  model.num_attention_heads = model.kv_channels = 4;
  model.num_query_groups = 2;
  model.seq_length = 8;
  model.decoder_seq_length = 4;
  return model;
}

TEST(AttentionCosts, FewerGroupsOfQueriesKeepFewerKeysAndValues) {
  const LayerCosts costs = self_attention_costs(model());
  EXPECT_EQ(costs.weights, 2 * 16 * 16 + 2 * 16 * 8);
  EXPECT_EQ(costs.multiply_adds - costs.weights, 8 * 16);  // half of 8 keys, scores and values
  EXPECT_EQ(costs.state, 2 * 8 * 2 * 4);
}

TEST(AttentionCosts, LatentsAreAllThatIsKept) {
  config::ModelConfig latent = model();
  latent.kv_lora_rank = 5;
  latent.qk_pos_emb_head_dim = 2;
  EXPECT_EQ(latent_attention_costs(latent).state, 8 * (5 + 2));
}

TEST(AttentionCosts, ADecoderSeesAllPositionsOfItsEncoder) {
  const LayerCosts costs = cross_attention_costs(model());
  EXPECT_EQ(costs.weights, 4 * 16 * 16);
  EXPECT_EQ(costs.multiply_adds, 2 * 16 * 16 * (4 + 8) / 4 + 2 * 8 * 16);
  EXPECT_EQ(costs.state, 2 * 8 * 16);
}

}  // namespace attention_costs_test
}  // namespace mpitron::nn
