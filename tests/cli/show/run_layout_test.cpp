#include "cli/show/run_layout.h"

#include <gtest/gtest.h>

#include "cli/commands.h"
#include "config/parse/parse.h"
#include "support/tiny_flags.h"
#include "train/model/flops.h"

namespace mpitron::cli {
namespace run_layout_test {

const std::vector<std::string> kFlags =
    test::tiny_flags({"--micro-batch-size", "2", "--disable-bias-linear", "--num-experts", "8",
                      "--moe-ffn-hidden-size", "96", "--moe-layer-freq", "2",
                      "--pipeline-model-parallel-size", "2", "--world-size", "2"});

TEST(LayerTable, TellsKindPlaceAndCostOfEveryLayer) {
  const config::RunConfig run = config::parse_run_config(kFlags);
  const std::vector<LayerRow> rows = layer_table(run);
  ASSERT_EQ(rows.size(), 4u);
  const Index norms = 4 * 64, attention = 4 * 64 * 64;
  EXPECT_EQ(rows[0].parameters, norms + attention + 8 * 64 + 8 * 2 * 64 * 96);
  EXPECT_EQ(rows[1].parameters, norms + attention + 2 * 64 * 256);
  EXPECT_EQ(rows[1].place.stage, 0);
  EXPECT_EQ(rows[2].place.stage, 1);
  double sum = 0;
  for (const LayerRow& row : rows) {
    const bool experts = row.spec.feed_forward == config::FeedForwardKind::experts;
    EXPECT_EQ(experts, row.number % 2 == 1);
    sum += row.flops;
  }
  const double all = train::flops_per_iteration(run.model, 2);
  EXPECT_NEAR(sum, all, 1e-9 * all);  // without a vocabulary nothing else computes
}

/// Those of the decoder come behind the encoder's, and attend to it as well.
TEST(LayerTable, CountsTheLayersOfEncoderAndDecoder) {
  const config::RunConfig run = config::parse_run_config(
      test::tiny_flags({"--model", "t5", "--decoder-seq-length", "16",
                        "--pipeline-model-parallel-size", "2", "--world-size", "2"}));
  const std::vector<LayerRow> rows = layer_table(run);
  ASSERT_EQ(rows.size(), 8u);
  const Index h = 64, attention = 4 * h * h + 4 * h;  // with biases
  for (const LayerRow& row : rows) {
    const bool decodes = row.number > 4;
    EXPECT_EQ(row.place.stage, decodes ? 1 : 0);
    EXPECT_EQ(row.spec.cross_attention, decodes);
    EXPECT_EQ(row.parameters - rows[0].parameters, decodes ? attention + 2 * h : 0);
  }
  // Per sample and pass: 16 queries of width h see 32 keys; two matrices each for both.
  const double cross = 2.0 * h * h * (16 + 32) + 2.0 * 16 * 32 * h;
  const double weights = 16 * (4.0 * h * h + 8.0 * h * h), scores = 16 * 16 * h;
  const double batch = static_cast<double>(run.training.global_batch_size);
  EXPECT_DOUBLE_EQ(rows[4].flops, batch * 6 * (cross + weights + scores));
}

TEST(LayerTable, ConfigShowPrintsIt) {
  Arguments words = kFlags;
  words.insert(words.begin(), "show");
  words.push_back("--layers");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(configuration(words), 0);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
  EXPECT_NE(text.find("    1  self attention    experts"), std::string::npos) << text;
  EXPECT_NE(text.find("    2  self attention    mlp"), std::string::npos) << text;
}

}  // namespace run_layout_test
}  // namespace mpitron::cli
