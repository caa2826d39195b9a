#include "ops/parallel/ring_exchange.h"

#include <gtest/gtest.h>

#include "comm/groups/world.h"
#include "support/tensors.h"

namespace mpitron::ops {
namespace ring_exchange_test {

using autograd::Context;
using tensor::Tensor;

Tensor numbers(device::Device& device, double first) {
  return test::make_tensor(device, {3}, DType::f32, {first, first + 1, first + 2});
}

class InRingsOf : public ::testing::TestWithParam<Index> {};

TEST_P(InRingsOf, EveryPieceComesByOnceOwnFirst) {
  comm::run_thread_world(GetParam(), [](comm::World& world) {
    const auto device = device::make_device("reference");
    Context context{.device = *device};
    const auto group = world.all();
    PieceRing ring(context, *group, numbers(*device, 10.0 * static_cast<double>(world.rank())));
    for (Index step = 0; step < world.size(); ++step) {
      ASSERT_FALSE(ring.done());
      const Index owner = (world.rank() + world.size() - step) % world.size();
      EXPECT_EQ(ring.owner(), owner);
      ring.start_step();
      EXPECT_EQ(test::values_of(ring.here()),
                test::values_of(numbers(*device, 10.0 * static_cast<double>(owner))));
      ring.finish_step();
    }
    EXPECT_TRUE(ring.done());
  });
}

/// Sums whose rounding shows their order: own contribution first, then around the ring.
TEST_P(InRingsOf, SumsComeHomeInOneOrder) {
  comm::run_thread_world(GetParam(), [](comm::World& world) {
    const auto device = device::make_device("reference");
    Context context{.device = *device};
    const auto group = world.all();
    const Index size = world.size();
    const auto contribution = [&](Index from, Index owner) {
      return std::pow(3.0, static_cast<double>(from * 5)) * (1 + static_cast<double>(owner)) / 7;
    };
    PieceRing pieces(context, *group, numbers(*device, 0));
    GradientRing sums(context, *group, {3}, DType::f32);
    while (!pieces.done()) {
      const Tensor& to = sums.start_step();
      pieces.start_step();
      test::set_values(to, std::vector<double>(3, contribution(world.rank(), pieces.owner())));
      sums.finish_step();
      pieces.finish_step();
    }
    auto expected = static_cast<float>(contribution(world.rank(), world.rank()));
    for (Index i = 1; i < size; ++i) {
      expected += static_cast<float>(contribution((world.rank() + i) % size, world.rank()));
    }
    EXPECT_EQ(test::values_of(sums.home()), std::vector<double>(3, expected));
  });
}

INSTANTIATE_TEST_SUITE_P(Ring, InRingsOf, ::testing::Values(1, 2, 3, 8));

}  // namespace ring_exchange_test
}  // namespace mpitron::ops
