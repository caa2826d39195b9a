#include "pipeline/stage_layout.h"

#include <gtest/gtest.h>

#include "pipeline/layouts_of_options.h"
#include "support/golden_tables.h"
#include "utils/error.h"

namespace mpitron::pipeline {
namespace stage_layout_test {

using config::ParallelConfig;
using nlohmann::json;

std::optional<Index> number(const json& row, const char* key) {
  return row.contains(key) && !row.at(key).is_null() ? std::optional<Index>(row.at(key))
                                                     : std::nullopt;
}

ParallelConfig config_of(const json& row) {
  const json options = row.value("options", json::object());
  ParallelConfig p;
  p.pipeline_model_parallel_size = row.at("pipeline_size");
  p.virtual_pipeline_model_parallel_size = number(row, "virtual_size");
  p.decoder_first_pipeline_num_layers = number(options, "num_layers_in_first_pipeline_stage");
  p.decoder_last_pipeline_num_layers = number(options, "num_layers_in_last_pipeline_stage");
  p.account_for_embedding_in_pipeline_split =
      options.value("account_for_embedding_in_pipeline_split", false);
  p.account_for_loss_in_pipeline_split = options.value("account_for_loss_in_pipeline_split", false);
  if (options.contains("pipeline_model_parallel_layout")) {
    p.pipeline_model_parallel_layout = options.at("pipeline_model_parallel_layout");
  }
  return p;
}

/// What a chunk holds, sorted, as the table names it.
json names(const ChunkLayers& layers) {
  std::vector<std::string> all;
  all.insert(all.end(), layers.has_embedding, "embedding");
  all.insert(all.end(), static_cast<std::size_t>(layers.count), "decoder");
  all.insert(all.end(), static_cast<std::size_t>(layers.mtp_count), "mtp");
  all.insert(all.end(), layers.has_loss, "loss");
  return all;
}

json names(const StageLayout& layout) {
  json all = json::array();
  for (Index stage = 0; stage < layout.stages(); ++stage) {
    json chunks = json::array();
    for (Index chunk = 0; chunk < layout.chunks(); ++chunk) {
      chunks.push_back(names(layout.layers(stage, chunk)));
    }
    all.push_back(chunks);
  }
  return all;
}

ParallelConfig layout_of(Index stages, const std::string& text) {
  ParallelConfig p = stages_of(stages);
  p.pipeline_model_parallel_layout = text;
  return p;
}

TEST(StageLayout, LayersEqualReferenceTable) {
  const json table = test::golden_table("layers_per_stage");
  ASSERT_GE(table.size(), 16U);
  for (const json& row : table) {
    if (row.contains("error")) {
      EXPECT_NE(error_of(config_of(row), row.at("num_layers")), "") << row;
      continue;
    }
    const StageLayout layout = make_stage_layout(config_of(row), row.at("num_layers"));
    EXPECT_EQ(counts_and_offsets(layout), row.at("count_and_offset_by_rank_and_chunk")) << row;
    EXPECT_EQ(layout.num_layers(), row.at("num_layers"));
  }
}

TEST(StageLayout, LayoutStringsEqualReferenceTable) {
  const json table = test::golden_table("pipeline_layouts");
  ASSERT_GE(table.size(), 17U);
  int refused = 0;
  for (const json& row : table) {
    const ParallelConfig p = layout_of(row.at("pipeline_size"), row.at("layout"));
    const Index mtp = number(row, "mtp_num_layers").value_or(0);
    if (!row.at("valid")) {
      EXPECT_TRUE(says(error_of(p, row.at("num_layers"), mtp), "--pipeline-model-parallel-layout"))
          << row;
      ++refused;
      continue;
    }
    const StageLayout layout = make_stage_layout(p, row.at("num_layers"), mtp);
    EXPECT_EQ(layout.chunks(), row.at("virtual_size")) << row;
    EXPECT_EQ(names(layout), row.at("stages_pp_vpp")) << row;
  }
  EXPECT_GE(refused, 7);
}

TEST(StageLayout, EveryLayerHasAnOwner) {
  for (const ParallelConfig& p : {stages_of(4, 2), layout_of(2, "E||ttt|t|t*4||t*8|L")}) {
    const StageLayout layout = make_stage_layout(p, 16);
    for (Index layer = 0; layer < 16; ++layer) {
      const ChunkPosition at = layout.owner(layer);
      const ChunkLayers& layers = layout.layers(at.stage, at.chunk);
      EXPECT_LE(layers.first, layer);
      EXPECT_LT(layer, layers.first + layers.count);
    }
  }
}

TEST(StageLayout, MultiTokenPredictionLivesWithTheLoss) {
  const StageLayout layout = make_stage_layout(stages_of(2, 2), 8, 2);
  EXPECT_EQ(layout.layers(1, 1).mtp_count, 2);
  EXPECT_TRUE(layout.layers(1, 1).looks_up_words());
  EXPECT_TRUE(layout.layers(0, 0).looks_up_words());
  EXPECT_FALSE(layout.layers(0, 1).looks_up_words());
  EXPECT_EQ(layout.layers(0, 1).mtp_count, 0);
}

TEST(StageLayout, ErrorsNameOptionAndFix) {
  EXPECT_TRUE(says(error_of(stages_of(4), 46), "46 % 4 = 2; change --num-layers by -2 or +2"));
  EXPECT_TRUE(says(error_of(stages_of(2, 3), 8), "The 4 layers of pipeline stage 0"));
  EXPECT_TRUE(says(error_of(stages_of(0), 8), "at least 1"));
  EXPECT_TRUE(says(error_of(stages_of(1, 2), 8), "at least 2 pipeline stages"));

  ParallelConfig p = stages_of(2);
  p.decoder_first_pipeline_num_layers = 1;
  p.decoder_last_pipeline_num_layers = 2;
  EXPECT_TRUE(says(error_of(p, 4), "leave 1 of --num-layers 4 for 0 stages"));
  EXPECT_TRUE(says(error_of(p, 2), "leave -1 of"));
  p.decoder_last_pipeline_num_layers = 0;
  EXPECT_TRUE(says(error_of(p, 4), "at least 1, given 1 and 0"));
  p.decoder_last_pipeline_num_layers = 2;
  p.account_for_loss_in_pipeline_split = true;
  EXPECT_TRUE(says(error_of(p, 3), "leave one pair out"));
  p.pipeline_model_parallel_size = 1;
  p.account_for_loss_in_pipeline_split = false;
  EXPECT_TRUE(says(error_of(p, 3), "--pipeline-model-parallel-size is 1"));

  ParallelConfig accounted = stages_of(2, 2);
  accounted.account_for_embedding_in_pipeline_split = true;
  EXPECT_TRUE(says(error_of(accounted, 4), "4 layers + embedding cannot be divided"));
  accounted = stages_of(1);
  accounted.account_for_embedding_in_pipeline_split = true;
  accounted.account_for_loss_in_pipeline_split = true;
  EXPECT_EQ(make_stage_layout(accounted, 3).layers(0, 0).count, 3);
}

}  // namespace stage_layout_test

}  // namespace mpitron::pipeline
