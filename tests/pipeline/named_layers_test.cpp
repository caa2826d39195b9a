#include <gtest/gtest.h>

#include "pipeline/layouts_of_options.h"
#include "pipeline/stage_layout.h"

namespace mpitron::pipeline {
namespace named_layers_test {

using config::ParallelConfig;

ParallelConfig named_layout(Index stages, const std::string& text) {
  ParallelConfig p = stages_of(stages);
  p.pipeline_model_parallel_layout = text;
  return p;
}

TEST(NamedLayers, ErrorsSayWhatIsMissing) {
  EXPECT_TRUE(says(error_of(named_layout(2, "Et|t|L"), 2), "3 stages cannot be dealt"));
  EXPECT_TRUE(
      says(error_of(named_layout(2, "t|EtL"), 2), "E has to stand 1 time in the first stage"));
  EXPECT_TRUE(
      says(error_of(named_layout(2, "EtL|t"), 2), "L has to stand 1 time in the last stage"));
  EXPECT_TRUE(says(error_of(named_layout(2, "Etm|L"), 1, 1), "m has to stand 1 time in the last"));
  EXPECT_TRUE(says(error_of(named_layout(2, "Et|tL"), 3), "it has 2 transformer layers (t)"));
  ParallelConfig p = named_layout(2, "Et|tL");
  p.account_for_loss_in_pipeline_split = true;
  EXPECT_TRUE(says(error_of(p, 2), "leave out"));
  p = named_layout(2, "Et|tL");
  p.virtual_pipeline_model_parallel_size = 2;
  EXPECT_TRUE(says(error_of(p, 2), "1 virtual stages per rank"));
}

TEST(NamedLayers, EveryStageHasWhatItsLettersSay) {
  const std::vector<ChunkLayers> stages = named_layers(named_layout(2, "Ett|tmL"), 3, 1);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].count, 2);
  EXPECT_TRUE(stages[0].has_embedding);
  EXPECT_FALSE(stages[0].has_loss);
  EXPECT_EQ(stages[1].mtp_count, 1);
  EXPECT_TRUE(stages[1].has_loss);
}

}  // namespace named_layers_test
}  // namespace mpitron::pipeline
