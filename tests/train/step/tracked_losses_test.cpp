#include "train/step/tracked_losses.h"

#include <gtest/gtest.h>

#include "comm/groups/world.h"

namespace mpitron::train {
namespace tracked_losses_test {

config::RunConfig two_depths() {
  config::RunConfig config;
  config.model.mtp_num_layers = 2;
  return config;
}

TEST(TrackedLossesTest, MeansOverMicrobatches) {
  const auto world = comm::make_single_world();
  const TrackedLosses tracked(two_depths(), comm::groups_of_one(*world));
  autograd::LayerSums sums;
  sums.add("mtp loss", 1, 5);
  sums.add("mtp loss", 1, 3);
  sums.add("mtp loss", 2, 6);
  const auto losses = tracked.report(sums, 2, *world->all()).losses;
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].layers, (std::vector<double>{4, 3}));
  const std::vector<NamedLoss> expected{{"mtp_1 loss", 4}, {"mtp_2 loss", 3}};
  EXPECT_EQ(summaries(losses), expected);
}

TEST(TrackedLossesTest, AModelWithoutThemTracksNothing) {
  const auto world = comm::make_single_world();
  const TrackedLosses tracked({}, comm::groups_of_one(*world));
  EXPECT_TRUE(tracked.report({}, 2, *world->all()).losses.empty());
}

/// With the loss's weight, over the layers that have an indexer.
TEST(TrackedLossesTest, IndexersTellTheirWeighedLoss) {
  const auto world = comm::make_single_world();
  config::RunConfig config;
  config.model.num_layers = 3;
  config.model.hybrid.pattern = "D-D";
  config.model.indexer.emplace().loss_coefficient = 0.5;
  const TrackedLosses tracked(config, comm::groups_of_one(*world));
  autograd::LayerSums sums;
  sums.add("indexer loss", 1, 8);
  sums.add("indexer loss", 3, 16);
  const auto losses = tracked.report(sums, 2, *world->all()).losses;
  const std::vector<NamedLoss> expected{{"indexer loss", 3}};
  EXPECT_EQ(summaries(losses), expected);
}

TEST(TrackedLossesTest, RoutersTellLossesAndTokensOfTheirLayers) {
  const auto world = comm::make_single_world();
  config::RunConfig config;
  config.model.num_layers = 3;
  config.model.moe = config::MoeConfig{.num_experts = 2, .layers = {true, false, true}};
  config.model.moe->balancing_losses = {{config::RouterBalancing::seq_aux_loss, 0.01}};
  config.model.moe->z_loss_coefficient = 0.1;
  const TrackedLosses tracked(config, comm::groups_of_one(*world));
  autograd::LayerSums sums;
  sums.add("seq_load_balancing_loss", 1, 3);
  sums.add("seq_load_balancing_loss", 3, 5);
  sums.add("z_loss", 3, 8);
  sums.add("tokens_per_expert", 1, std::vector<double>{5, 3});
  sums.add("tokens_per_expert", 3, std::vector<double>{0, 8});
  const LayerReport report = tracked.report(sums, 2, *world->all());
  const std::vector<NamedLoss> expected{{"z_loss", 2}, {"seq_load_balancing_loss", 2}};
  EXPECT_EQ(summaries(report.losses), expected);
  const std::map<Index, std::vector<double>> tokens{{1, {5, 3}}, {3, {0, 8}}};
  EXPECT_EQ(report.expert_tokens, tokens);
}

// track_moe_metrics of the reference adds mtp_num_layers to the layers with experts, and
// training_log appends the losses of the depths behind.
TEST(TrackedLossesTest, DepthsOfPredictionCountInTheMeanAndComeLast) {
  const auto world = comm::make_single_world();
  config::RunConfig config = two_depths();
  config.model.num_layers = 2;
  config.model.moe = config::MoeConfig{.num_experts = 2, .layers = {true, false}};
  config.model.moe->balancing_losses = {{config::RouterBalancing::aux_loss, 0.01}};
  autograd::LayerSums sums;
  sums.add("load_balancing_loss", 1, 6);
  sums.add("mtp loss", 1, 5);
  const TrackedLosses tracked(config, comm::groups_of_one(*world));
  const std::vector<NamedLoss> expected{
      {"load_balancing_loss", 2}, {"mtp_1 loss", 5}, {"mtp_2 loss", 0}};
  EXPECT_EQ(summaries(tracked.report(sums, 1, *world->all()).losses), expected);
}

TEST(TrackedLossesTest, AMeanIsOverTheLayersThatHaveOne) {
  const std::vector<LayerLosses> losses{
      {.name = "load_balancing_loss", .layers = {0, 1.5, 0, 0.5}, .layers_with_one = 2}};
  const std::vector<NamedLoss> expected{{"load_balancing_loss", 1}};
  EXPECT_EQ(summaries(losses), expected);
}

}  // namespace tracked_losses_test
}  // namespace mpitron::train
