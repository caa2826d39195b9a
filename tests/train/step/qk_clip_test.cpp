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
  model.kv_channels = 1;
  model.qk_clip = {.alpha = 0.25, .threshold = 4};
  autograd::LayerSums sums;
  const double first[] = {1, 2, 3, 4}, second[] = {1, 64, 4, -8};
  sums.raise("attention logit", 1, first);
  sums.raise("attention logit", 2, second);
  QkClip clip(model);
  const auto world = comm::make_single_world();
  EXPECT_EQ(clip.collect(sums, *world->all()), 64);
  EXPECT_TRUE(clip.row_factors(1).empty());  // at the threshold
  const float query = static_cast<float>(std::pow(1.0 / 16, 0.25));
  const float key = static_cast<float>(std::pow(1.0 / 16, 0.75));
  EXPECT_EQ(clip.row_factors(2), (std::vector<float>{query, query, key, 1, 1, 1, 1, 1}));
}

}  // namespace qk_clip_test
}  // namespace mpitron::train
