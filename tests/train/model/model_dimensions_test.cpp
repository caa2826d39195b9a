#include "train/model/model_dimensions.h"

#include <gtest/gtest.h>

namespace mpitron::train {

TEST(ModelDimensions, FromOptions) {
  config::ModelConfig config;
  config.num_layers = 3;
  config.hidden_size = 64;
  config.num_attention_heads = 4;
  config.num_query_groups = 2;
  config.kv_channels = 32;
  config.gated_linear_unit = true;
  const ModelDimensions model = model_dimensions(config);
  EXPECT_EQ(model.dense_layers(), 3);
  EXPECT_EQ(model.num_query_groups, 2);
  EXPECT_EQ(model.gate_factor(), 1.5);
  EXPECT_EQ(model.projection_ratio(), 2.0);
}

TEST(ModelDimensions, LatentAttentionHasItsOwn) {
  config::ModelConfig config;
  EXPECT_FALSE(model_dimensions(config).latent_attention);
  config.multi_latent_attention = true;
  config.q_lora_rank = 12;
  config.v_head_dim = 96;
  config.mtp_num_layers = 2;
  const ModelDimensions model = model_dimensions(config);
  EXPECT_EQ(model.latent_attention.value().q_lora_rank, 12);
  EXPECT_EQ(model.latent_attention->qk_head_dim, 128);
  EXPECT_EQ(model.latent_attention->v_head_dim, 96);
  EXPECT_EQ(model.mtp_num_layers, 2);
}

}  // namespace mpitron::train
