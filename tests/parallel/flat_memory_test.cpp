#include "parallel/flat_memory.h"

#include <gtest/gtest.h>

#include "support/replicas.h"
#include "support/tensors.h"

namespace mpitron::parallel {
namespace flat_sum_test {

/// One operation gives every tensor what an operation of its own would.
TEST(FlatSum, IsTheSumOfEachTensor) {
  comm::run_thread_world(4, [](comm::World& world) {
    const auto device = device::make_device("reference");
    for (const DType dtype : {DType::f32, DType::f16}) {
      for (const std::size_t count : {0, 1, 3}) {
        std::vector<Tensor> together, each;
        for (std::size_t i = 0; i < count; ++i) {
          const auto seed = static_cast<unsigned>(10 * world.rank()) + static_cast<unsigned>(i);
          const Shape shape = {static_cast<Index>(i) + 1, 5};
          together.push_back(test::random_tensor(*device, shape, dtype, seed));
          each.push_back(test::random_tensor(*device, shape, dtype, seed));
          world.all()->all_reduce(each.back().view()).wait();
        }
        sum_together(*device, *world.all(), together);
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(test::values_of(together[i]), test::values_of(each[i])) << i;
        }
      }
    }
  });
}

}  // namespace flat_sum_test
}  // namespace mpitron::parallel
