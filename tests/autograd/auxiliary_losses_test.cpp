#include "autograd/auxiliary_losses.h"

#include <gtest/gtest.h>

namespace mpitron::autograd {
namespace {

TEST(LayerSumsTest, AddsMicrobatchesForEachNameAndLayer) {
  LayerSums sums;
  sums.add("load_balancing_loss", 2, 1.5);
  sums.add("load_balancing_loss", 2, 0.25);
  sums.add("load_balancing_loss", 4, 1);
  sums.add("z_loss", 1, 3);
  EXPECT_EQ(sums.of("load_balancing_loss", 5), (std::vector<double>{0, 1.75, 0, 1, 0}));
  EXPECT_EQ(sums.of("z_loss", 2), (std::vector<double>{3, 0}));
  EXPECT_EQ(sums.of("mtp loss", 1), std::vector<double>{0});
  sums.clear();
  EXPECT_EQ(sums.of("z_loss", 2), (std::vector<double>{0, 0}));
}

TEST(LayerSumsTest, ALayerMayHaveARowOfNumbers) {
  LayerSums sums;
  sums.add("tokens_per_expert", 2, std::vector<double>{1, 2, 3});
  sums.add("tokens_per_expert", 2, std::vector<double>{4, 0, 1});
  EXPECT_EQ(sums.of("tokens_per_expert", 2, 3), (std::vector<double>{0, 0, 0, 5, 2, 4}));
  EXPECT_ANY_THROW(sums.of("tokens_per_expert", 2));
  EXPECT_ANY_THROW(sums.of("tokens_per_expert", 1, 3));
}

}  // namespace
}  // namespace mpitron::autograd
