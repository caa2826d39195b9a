#include "train/tracked_losses.h"

#include <gtest/gtest.h>

#include "comm/world.h"

namespace mpitron::train {
namespace {

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
  const auto losses = tracked.means(sums, 2, *world->all());
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].layers, (std::vector<double>{4, 3}));
  const std::vector<NamedLoss> expected{{"mtp_1 loss", 4}, {"mtp_2 loss", 3}};
  EXPECT_EQ(summaries(losses), expected);
}

TEST(TrackedLossesTest, AModelWithoutThemTracksNothing) {
  const auto world = comm::make_single_world();
  const TrackedLosses tracked({}, comm::groups_of_one(*world));
  EXPECT_TRUE(tracked.means({}, 2, *world->all()).empty());
}

TEST(TrackedLossesTest, AMeanIsOverTheLayersThatHaveOne) {
  const std::vector<LayerLosses> losses{
      {.name = "load_balancing_loss", .layers = {0, 1.5, 0, 0.5}, .layers_with_one = 2}};
  const std::vector<NamedLoss> expected{{"load_balancing_loss", 1}};
  EXPECT_EQ(summaries(losses), expected);
}

}  // namespace
}  // namespace mpitron::train
