#include "autograd/parameter.h"

#include <gtest/gtest.h>

namespace mpitron::autograd {
namespace parameter_test {

/// A shard that is no matrix (a bias of a column parallel layer) counts where it lies; what all
/// ranks have counts once.
TEST(Parameter, AShardCountsOnEveryRankAndACopyOnceInTheNorm) {
  Parameter bias{
      .name = "bias", .shape = {4}, .placement = {.shard = {.dim = 0, .ranges = {{2, 4}}}}};
  const Parameter norm{.name = "norm", .shape = {4}};
  EXPECT_TRUE(bias.counts_in_norm(0) && bias.counts_in_norm(1));
  EXPECT_TRUE(norm.counts_in_norm(0));
  EXPECT_FALSE(norm.counts_in_norm(1));
  bias.placement.counted_elsewhere = true;
  EXPECT_FALSE(bias.counts_in_norm(1));
}

/// A factor of an update that all ranks of an expert have, beside one that they share in pieces.
TEST(Parameter, AnExpertsFactorCountsOnceAmongTheRanksThatShareTheExpert) {
  const Parameter whole{.name = "a", .shape = {4}, .placement = {.expert = true}};
  EXPECT_TRUE(whole.counts_in_norm(0));
  EXPECT_FALSE(whole.counts_in_norm(1));
  const Parameter piece{.name = "b",
                        .shape = {4},
                        .placement = {.shard = {.dim = 0, .ranges = {{2, 4}}}, .expert = true}};
  EXPECT_TRUE(piece.counts_in_norm(0) && piece.counts_in_norm(1));
}

}  // namespace parameter_test
}  // namespace mpitron::autograd
