#include <gtest/gtest.h>

#include "pipeline/layouts_of_options.h"
#include "pipeline/stage_layout.h"
#include "utils/error.h"

namespace mpitron::pipeline {
namespace stage_split_test {

using config::ParallelConfig;
using nlohmann::json;

TEST(StageSplit, AnExplicitLastStageAloneAddsUp) {
  ParallelConfig p = stages_of(3, 2);
  p.decoder_last_pipeline_num_layers = 2;
  EXPECT_EQ(counts_and_offsets(make_stage_layout(p, 10)),
            json::parse("[[[2,0],[2,5]],[[2,2],[2,7]],[[1,4],[1,9]]]"));
}

TEST(StageSplit, EmbeddingAndLossMayLeaveAChunkWithoutLayers) {
  ParallelConfig p = stages_of(2);
  p.account_for_embedding_in_pipeline_split = true;
  p.account_for_loss_in_pipeline_split = true;
  EXPECT_EQ(counts_and_offsets(make_stage_layout(p, 0)), json::parse("[[[0,0]],[[0,0]]]"));
}

TEST(StageSplit, LayersPerVirtualStageMustDivideTheStage) {
  ParallelConfig p = stages_of(4, 1);  // what the configuration derives: 16 / 4 / 3
  p.num_layers_per_virtual_pipeline_stage = 3;
  EXPECT_TRUE(says(error_of(p, 16), "--num-layers-per-virtual-pipeline-stage 3"));
  p.num_layers_per_virtual_pipeline_stage = 8;
  p.virtual_pipeline_model_parallel_size = 0;
  EXPECT_TRUE(says(error_of(p, 16), "--num-layers-per-virtual-pipeline-stage 8"));
  p.num_layers_per_virtual_pipeline_stage = 2;
  p.virtual_pipeline_model_parallel_size = 2;
  EXPECT_EQ(make_stage_layout(p, 16).layers(3, 1).first, 14);
  p.decoder_last_pipeline_num_layers = 4;
  EXPECT_TRUE(says(error_of(p, 16), "--num-virtual-stages-per-pipeline-rank instead"));
}

}  // namespace stage_split_test

}  // namespace mpitron::pipeline
