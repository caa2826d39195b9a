#include "train/step/qk_clip.h"

#include <cmath>

#include <gtest/gtest.h>

#include "comm/groups/parallel_groups.h"

namespace mpitron::train {
namespace qk_clip_test {

/// Two groups of two heads of one column: rows q q k v, q q k v.
TEST(QkClip, ShrinksRowsOfGroupsAboveTheThreshold) {
  config::ModelConfig model;
  model.num_layers = 2, model.num_attention_heads = 4, model.num_query_groups = 2;
  model.kv_channels = 1, model.mtp_num_layers = 1;
  model.qk_clip = {.alpha = 0.25, .threshold = 4};
  autograd::LayerSums sums;
  const double first[] = {1, 2, 3, 4}, second[] = {1, 64, 4, -8}, of_depth[] = {99, 99, 99, 99};
  sums.raise("attention logit", 1, first);
  sums.raise("attention logit", 2, second);
  sums.raise("attention logit", 3, of_depth);
  QkClip clip(model);
  const auto world = comm::make_single_world();
  EXPECT_EQ(clip.collect(sums, *world->all()), 64);
  const char* const name = "decoder.layers.1.self_attention.linear_qkv.weight";
  EXPECT_TRUE(clip.row_factors(name, 1).empty());  // at the threshold
  const float query = static_cast<float>(std::pow(1.0 / 16, 0.25));
  const float key = static_cast<float>(std::pow(1.0 / 16, 0.75));
  EXPECT_EQ(clip.row_factors(name, 2), (std::vector<float>{query, query, key, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(clip.row_factors("decoder.layers.1.mlp.linear_fc1.weight", 2).empty());
  EXPECT_TRUE(clip.row_factors(name, 3).empty());  // a depth of prediction
}

/// Two heads, the second above the threshold: the rotary part of its query takes all of eta, since
/// the key's is shared by all heads.
TEST(QkClip, OfLatentAttentionScalesEachHeadAlone) {
  config::ModelConfig model;
  model.num_layers = 1, model.num_attention_heads = 2, model.multi_latent_attention = true;
  model.qk_head_dim = 2, model.qk_pos_emb_head_dim = 1, model.v_head_dim = 1;
  model.qk_clip = {.alpha = 0.25, .threshold = 4};
  autograd::LayerSums sums;
  const double largest[] = {3, 64};
  sums.raise("attention logit", 1, largest);
  QkClip clip(model);
  const auto world = comm::make_single_world();
  EXPECT_EQ(clip.collect(sums, *world->all()), 64);
  const float query = static_cast<float>(std::pow(1.0 / 16, 0.25));
  const float key = static_cast<float>(std::pow(1.0 / 16, 0.75));
  const std::string layer = "decoder.layers.0.self_attention.";
  for (const char* name : {"linear_q_proj.weight", "linear_q_up_proj.weight"}) {
    EXPECT_EQ(clip.row_factors(layer + name, 1),
              (std::vector<float>{1, 1, 1, query, query, 1.0F / 16}));
  }
  EXPECT_EQ(clip.row_factors(layer + "linear_kv_up_proj.weight", 1),
            (std::vector<float>{1, 1, 1, key, key, 1}));
}

}  // namespace qk_clip_test
}  // namespace mpitron::train
