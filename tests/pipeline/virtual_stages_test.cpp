#include "pipeline/virtual_stages.h"

#include <gtest/gtest.h>

namespace mpitron::pipeline {

TEST(VirtualStages, DataVisitsAllStagesChunkByChunk) {
  const VirtualStages ring{.stages = 3, .chunks = 2};
  EXPECT_EQ(ring.count(), 6);
  EXPECT_EQ(ring.before(0, 0), std::nullopt);
  EXPECT_EQ(ring.after(0, 0), (ChunkPosition{.stage = 1, .chunk = 0}));
  EXPECT_EQ(ring.after(2, 0), (ChunkPosition{.stage = 0, .chunk = 1}));
  EXPECT_EQ(ring.before(0, 1), (ChunkPosition{.stage = 2, .chunk = 0}));
  EXPECT_EQ(ring.after(2, 1), std::nullopt);
}

}  // namespace mpitron::pipeline
