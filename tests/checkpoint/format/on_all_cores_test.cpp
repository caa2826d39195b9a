#include "checkpoint/format/on_all_cores.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::checkpoint {
namespace on_all_cores_test {

TEST(OnAllCores, DoesEachOnce) {
  EXPECT_GE(usable_cores(), 1);
  for (const Index count : {0, 1, 7, 1000}) {
    std::vector<std::atomic<int>> times(static_cast<std::size_t>(count));
    on_all_cores(count, [&](Index i) { ++times[static_cast<std::size_t>(i)]; });
    for (const auto& n : times) {
      EXPECT_EQ(n, 1);
    }
  }
}

TEST(OnAllCores, AnExceptionEndsTheWork) {
  std::atomic<Index> done = 0;
  EXPECT_THROW(on_all_cores(1000000,
                            [&](Index i) {
                              ++done;
                              if (i == 3) {
                                throw std::runtime_error("three");
                              }
                            }),
               std::runtime_error);
  EXPECT_LT(done, 1000000);
}

}  // namespace on_all_cores_test
}  // namespace mpitron::checkpoint
