#include "inference/protocol/metrics.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace metrics_test {

TEST(Metrics, HistogramsCountTimesUpToABound) {
  Histogram times;
  times.add(std::chrono::milliseconds(1));  // the bound itself
  times.add(std::chrono::milliseconds(2));
  times.add(std::chrono::hours(1));
  EXPECT_EQ(times.counts[0], 1);
  EXPECT_EQ(times.counts[1], 1);
  EXPECT_EQ(times.counts.back(), 1);
  EXPECT_NEAR(times.sum, 3600.003, 1e-9);
}

}  // namespace metrics_test
}  // namespace mpitron::inference
