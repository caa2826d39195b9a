#include "parallel/tensor_gradients.h"

#include <gtest/gtest.h>

#include "comm/world.h"
#include "support/tensors.h"

namespace mpitron::parallel {
namespace {

using autograd::Parameter;

/// On every rank r: gradients {r, r + 1} of three parameters; the first and last are summed.
TEST(TensorGradients, OnlyPartialGradientsAreSummed) {
  for (const Index ranks : {1, 3}) {
    comm::run_thread_world(ranks, [ranks](comm::World& world) {
      const auto device = device::make_device("reference");
      autograd::ParameterList parameters;
      const auto r = static_cast<double>(world.rank());
      for (const bool sums : {true, false, true}) {
        Parameter& parameter = parameters.add({.name = "p", .shape = {2}});
        parameter.sum_over_tensor = sums;
        parameter.main_grad = testing::make_tensor(*device, {2}, DType::f32, {r, r + 1});
      }
      const auto group = world.all();
      sum_tensor_gradients(*device, parameters, *group);
      const double sum = ranks == 3 ? 3 : 0;
      for (const Parameter& parameter : parameters) {
        EXPECT_EQ(testing::values_of(parameter.main_grad),
                  parameter.sum_over_tensor
                      ? (std::vector<double>{sum, sum + static_cast<double>(ranks)})
                      : (std::vector<double>{r, r + 1}));
      }
    });
  }
}

TEST(TensorGradients, NothingToSumNeedsNoMessage) {
  comm::run_thread_world(2, [](comm::World& world) {
    const auto device = device::make_device("reference");
    autograd::ParameterList parameters;
    if (world.rank() == 0) {  // the other rank never comes
      sum_tensor_gradients(*device, parameters, *world.all());
    }
  });
}

/// A shard that is no matrix (a bias of a column parallel layer) counts where it lies; what all
/// ranks have counts once.
TEST(TensorGradients, AShardCountsOnEveryRankAndACopyOnceInTheNorm) {
  Parameter bias{.name = "bias", .shape = {4}, .shard = {.dim = 0, .ranges = {{2, 4}}}};
  Parameter norm{.name = "norm", .shape = {4}};
  EXPECT_TRUE(bias.counts_in_norm(0) && bias.counts_in_norm(1));
  EXPECT_TRUE(norm.counts_in_norm(0));
  EXPECT_FALSE(norm.counts_in_norm(1));
  bias.counted_elsewhere = true;
  EXPECT_FALSE(bias.counts_in_norm(1));
}

}  // namespace
}  // namespace mpitron::parallel
