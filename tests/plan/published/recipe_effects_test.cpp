#include <gtest/gtest.h>

#include "plan/planned_run.h"
#include "plan/published/recipes.h"

namespace mpitron::plan {
namespace recipe_effects_test {

constexpr const char* kText = R"(source: Somebody
rows:
  - {model: m, gradients: bf16, recompute: [moe_act]}
  - {model: m, since: '26.04', until: '26.06', graphs: whole, dispatch: fused, overlap: 1}
  - {model: m, hardware: [h], recompute: [], depths: 1, layouts: {2: 'Et|tmL'}}
  - {model: n, full: 1, sharding: full, offload: 1}
  - {model: o, shape: [3, 32, 2], batch: 7}
)";

PublishedRow row_of(const std::string& model, const std::string& table) {
  PublishedRow row;
  row.source = "Somebody's table";
  row.table = table;
  row.model = model;
  row.run =
      test::planned_run({.layers = 2, .hidden = 64, .heads = 4}, 64, 4, {.gpus = 2, .pipeline = 2});
  return row;
}

TEST(RecipeEffects, LaterOnesThatFitWin) {
  const std::vector<Recipe> recipes = parse_recipes(kText, "r.yaml");
  PublishedRow row = row_of("m", "26.02 container");
  apply_recipes(recipes, row);
  EXPECT_TRUE(row.recompute_known);
  EXPECT_TRUE(row.run.model.recomputes(config::RecomputeModule::moe_act));
  EXPECT_EQ(row.run.optimizer.main_grad_dtype, DType::bf16);
  EXPECT_EQ(row.practice.graphs, Graphs::none);
  row = row_of("m", "26.04 container");
  row.hardware = "h";
  apply_recipes(recipes, row);
  EXPECT_EQ(row.practice.graphs, Graphs::whole);
  EXPECT_TRUE(row.practice.fused_dispatch);
  EXPECT_TRUE(row.run.parallel.overlap_moe_expert_parallel_comm);
  EXPECT_EQ(row.run.model.recompute_granularity, config::RecomputeGranularity::none);
  EXPECT_EQ(row.run.model.mtp_num_layers, 1);
  EXPECT_EQ(row.run.parallel.pipeline_model_parallel_layout, "Et|tmL");
  row = row_of("n", "x");
  apply_recipes(recipes, row);
  EXPECT_FALSE(row.recompute_known);  // not fully sharded
}

TEST(RecipeEffects, ModelsThatAreOnlyNamedGetAShape) {
  PublishedRow row;
  row.source = "Somebody";
  row.model = "o";
  apply_recipes(parse_recipes(kText, "r.yaml"), row);
  EXPECT_EQ(row.run.model.num_layers, 3);
  EXPECT_EQ(row.run.model.kv_channels, 16);
  EXPECT_EQ(row.run.training.global_batch_size, 7);
  row = row_of("o", "x");
  apply_recipes(parse_recipes(kText, "r.yaml"), row);
  EXPECT_EQ(row.run.model.num_layers, 2);  // its own
}

/// What the table tells stays, and what does not divide is of another run.
TEST(RecipeEffects, MicrobatchAndChunksAreFilledIn) {
  const std::vector<Recipe> recipes = parse_recipes(
      "source: S\nrows:\n  - {model: m, micro-batch: 2, chunks: 3, data-overlap: 0.5}\n", "r.yaml");
  const auto applied = [&](Index layers, Index batch, std::optional<Index> told = std::nullopt) {
    PublishedRow row;
    row.source = "S";
    row.model = "m";
    row.micro_batch = row.chunks = told;
    row.run = test::planned_run({.layers = layers, .hidden = 64, .heads = 4}, 64, batch,
                                {.gpus = 4, .pipeline = 2});
    apply_recipes(recipes, row);
    EXPECT_EQ(row.practice.data_overlap, 0.5);
    return std::pair(row.micro_batch, row.chunks);
  };
  EXPECT_EQ(applied(6, 4), std::pair(std::optional<Index>(2), std::optional<Index>(3)));
  EXPECT_EQ(applied(6, 4, 1), std::pair(std::optional<Index>(1), std::optional<Index>(1)));
  EXPECT_EQ(applied(8, 6), std::pair(std::optional<Index>(), std::optional<Index>()));
}

}  // namespace recipe_effects_test

}  // namespace mpitron::plan
