#include "train/flops.h"

#include <gtest/gtest.h>

#include "support/golden_dimensions.h"

namespace mpitron::train {

TEST(Flops, EqualsReferenceTable) {
  const nlohmann::json table = testing::golden_table("flops");
  ASSERT_GE(table.at("cases").size(), 24U);
  for (const auto& c : table.at("cases")) {
    const testing::GoldenArguments args(c.at("args"));
    const double expected = c.at("flops");
    EXPECT_NEAR(flops_per_iteration(testing::golden_dimensions(args), c.at("batch_size")), expected,
                1e-12 * expected)
        << c.at("args");
  }
}

TEST(Flops, ThroughputPerDevice) {
  EXPECT_DOUBLE_EQ(throughput_per_device(8e15, 2.0, 8), 500.0);
}

}  // namespace mpitron::train
