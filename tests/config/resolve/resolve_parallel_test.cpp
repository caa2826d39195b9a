#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_parallel_test {

using test::parse_base;

TEST(ResolveParallel, VirtualStagesCountEmbeddingAndLossWhereTheyAreAccountedFor) {
  const std::string flags =
      "--world-size 2 --pipeline-model-parallel-size 2 --num-layers 6 --global-batch-size 8 "
      "--num-layers-per-virtual-pipeline-stage 2 ";
  const std::string accounted =
      "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split";
  const ParallelConfig plain = parse_base(flags).run.parallel;
  EXPECT_EQ(plain.num_layers_per_virtual_pipeline_stage, 2);
  EXPECT_EQ(plain.virtual_pipeline_model_parallel_size, 1);
  EXPECT_EQ(parse_base(flags + accounted).run.parallel.virtual_pipeline_model_parallel_size, 2);
}

TEST(ResolveParallel, MessagesOverlapWithInterleavingOfEitherForm) {
  const auto overlaps = [](const std::string& flags) {
    return parse_base("--world-size 2 --pipeline-model-parallel-size 2 " + flags)
        .run.parallel.overlap_p2p_comm;
  };
  EXPECT_FALSE(overlaps(""));
  EXPECT_TRUE(overlaps("--num-virtual-stages-per-pipeline-rank 2"));
  EXPECT_TRUE(overlaps("--pipeline-model-parallel-layout Et|t|t|tL"));
  EXPECT_FALSE(
      overlaps("--pipeline-model-parallel-layout Et|t|t|tL --no-overlap-p2p-communication"));
}

}  // namespace resolve_parallel_test
}  // namespace mpitron::config
