#include <gtest/gtest.h>

#include "cli/generation/loaded_model.h"
#include "utils/error.h"

namespace mpitron::cli {
namespace cache_size_test {

config::ModelConfig small() {
  config::ModelConfig config;
  config.num_query_groups = 4;
  config.kv_channels = 8;
  config.max_position_embeddings = 100;
  config.params_dtype = DType::bf16;
  return config;
}

TEST(CacheSize, HoldsAllRequestsOrWhatFits) {
  const config::ModelConfig config = small();
  const CacheSize cache{.config = config, .layers = 2, .block_size = 16};
  EXPECT_EQ(cache.block_bytes(), 2 * 2 * 16 * 2 * 4 * 8);
  EXPECT_EQ(cache.blocks(3, 0), 3 * 7);
  EXPECT_EQ(cache.blocks(3, 1), (1 << 30) / cache.block_bytes());
  EXPECT_THROW(cache.blocks(3, 1e-5), Error);
}

/// A scale for each position and head of keys and of values, or for each latent.
TEST(CacheSize, CountsTheTypeOfTheCache) {
  config::ModelConfig config = small();
  CacheSize cache{.config = config, .layers = 2, .block_size = 16};
  cache.cache = kernels::CacheType::e4m3;
  EXPECT_EQ(cache.block_bytes(), 2 * 2 * 16 * 4 * (8 + 1));
  config.params_dtype = DType::f32;
  EXPECT_EQ(cache.block_bytes(), 2 * 2 * 16 * 4 * (8 + 1));
  cache.cache = kernels::CacheType::bf16;
  EXPECT_EQ(cache.block_bytes(), 2 * 2 * 16 * 4 * 8 * 2);
  config.multi_latent_attention = true;
  config.kv_lora_rank = 24;
  config.qk_pos_emb_head_dim = 8;
  cache.cache = kernels::CacheType::e4m3;
  EXPECT_EQ(cache.block_bytes(), 2 * 16 * (24 + 8 + 1));
}

/// A Mamba layer with a state of 8 x 4 x 16 numbers and a window of 3 x (32 + 2 x 16): the cache
/// has blocks for the other layer alone.
TEST(CacheSize, CountsStatesOfAllRequests) {
  config::ModelConfig config = small();
  config.num_layers = 2;
  config.hybrid.pattern = "M*";
  config.hybrid.mamba = {.state_dim = 16, .head_dim = 4, .groups = 1, .heads = 8};
  CacheSize cache{.config = config, .layers = 2, .block_size = 16};
  EXPECT_EQ(cache.block_bytes(), 2 * 2 * 16 * 4 * 8);
  constexpr Index kState = 8 * 4 * 16, kWindow = 3 * (32 + 2 * 16);
  cache.states = {.conv = DType::f32, .recurrence = DType::f16};
  EXPECT_EQ(cache.state_bytes(), 2 * (2 * kState + 4 * kWindow));
  cache.states = {};
  EXPECT_EQ(cache.state_bytes(), 2 * (4 * kState + 2 * kWindow));
  const Index left = (1 << 30) - 3 * cache.state_bytes();
  EXPECT_EQ(cache.blocks(3, 1), left / cache.block_bytes());
  const CacheSize of_states{.config = config, .layers = 1, .block_size = 16};
  EXPECT_EQ(of_states.blocks(3, 1), 3 * 7);
}

/// Four beginnings of texts for each request, as long as a quarter of what is left holds them.
TEST(CacheSize, CountsStatesOfBeginnings) {
  config::ModelConfig config = small();
  config.num_layers = 2;
  config.hybrid.pattern = "M*";
  config.hybrid.mamba = {.state_dim = 16, .head_dim = 4, .groups = 1, .heads = 8};
  CacheSize cache{.config = config, .layers = 2, .block_size = 16};
  EXPECT_EQ(cache.snapshot_bytes(), 4 * 8 * 4 * 16 + 2 * 3 * (32 + 2 * 16));
  EXPECT_EQ(cache.usual_snapshots(3, 1), 12);
  const auto gigabytes = static_cast<double>(3 * cache.state_bytes() + 21 * cache.snapshot_bytes());
  EXPECT_EQ(cache.usual_snapshots(3, gigabytes / (1 << 30)), 5);
  cache.snapshots = 5;
  const Index left = (1 << 30) - 11 * cache.snapshot_bytes();
  EXPECT_EQ(cache.blocks(3, 1), left / cache.block_bytes());
}

TEST(CacheSize, RanksShareHeadsAndBlocks) {
  const config::ModelConfig config = small();
  const CacheSize cache{
      .config = config, .layers = 2, .block_size = 16, .tensor_ranks = 8, .context_ranks = 2};
  EXPECT_EQ(cache.block_bytes(), 2 * 2 * 16 * 2 * 1 * 8);  // a group is never cut
  EXPECT_EQ(cache.blocks(1, 0), 8);
}

}  // namespace cache_size_test
}  // namespace mpitron::cli
