#include "utils/system/parallel_for.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron {
namespace parallel_for_test {

TEST(ParallelFor, CallsEachOnce) {
  for (const Index threads : {1, 4}) {
    std::vector<std::atomic<int>> calls(100);
    parallel_for(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    for (const auto& count : calls) {
      EXPECT_EQ(count, 1);
    }
  }
}

TEST(ParallelFor, ThrowsWhatACallThrew) {
  EXPECT_THROW(parallel_for(50, 3,
                            [](std::size_t i) {
                              if (i == 7) {
                                throw std::runtime_error("seven");
                              }
                            }),
               std::runtime_error);
}

}  // namespace parallel_for_test
}  // namespace mpitron
