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

/// Ranks that share the tensors of other layers hold different experts, or pieces of the same.
TEST(Parameter, AnExpertCountsWhereItLies) {
  const Parameter expert{.name = "expert", .shape = {4}, .placement = {.expert = true}};
  EXPECT_TRUE(expert.counts_in_norm(0) && expert.counts_in_norm(1));
}

}  // namespace parameter_test
}  // namespace mpitron::autograd
