#include "inference/scheduling/batching_limits.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace batching_limits_test {

/// As recorded from the reference; `mpitron replay --generation` has all of its cases.
TEST(BatchingLimits, AreTheReferences) {
  const BlockContents block{.layers = 2, .positions = 4, .groups = 2, .head_dim = 8};
  EXPECT_EQ(block.bytes(), 1024);
  BatchingSettings settings{.buffer_size_gb = 0.01, .max_sequence_length = 32};
  const BatchingLimits plain(block, settings);
  EXPECT_EQ(plain.blocks, 10485);
  EXPECT_EQ(plain.max_requests, 1312);
  EXPECT_EQ(plain.max_tokens, 41984);
  EXPECT_EQ(plain.guaranteed_requests, 262);
  EXPECT_EQ(plain.guaranteed_blocks, 2096);
  EXPECT_TRUE(plain.graph_sizes.empty());
  settings.overflow_factor = 1.3;
  EXPECT_EQ(BatchingLimits(block, settings).max_requests, 1152);
  settings = {.buffer_size_gb = 0.02, .graphs = 5, .max_sequence_length = 32};
  EXPECT_EQ(BatchingLimits(block, settings).graph_sizes,
            (std::vector<Index>{2624, 2112, 1584, 1056, 528}));
  settings.max_requests = 30;
  settings.max_tokens = 100;
  EXPECT_EQ(BatchingLimits(block, settings).max_requests, 32);
  EXPECT_EQ(BatchingLimits(block, settings).max_tokens, 128);
}

TEST(BatchingLimits, LatentsTakeLittle) {
  EXPECT_EQ((BlockContents{.layers = 2, .positions = 64, .latent_width = 20}).bytes(), 10240);
}

}  // namespace batching_limits_test
}  // namespace mpitron::inference
