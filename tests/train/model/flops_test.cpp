#include "train/model/flops.h"

#include <gtest/gtest.h>

#include "support/golden_model.h"

namespace mpitron::train {

TEST(Flops, EqualsReferenceTable) {
  const nlohmann::json table = test::golden_table("flops");
  int compared = 0;
  for (const auto& c : table.at("cases")) {
    const test::GoldenArguments args(c.at("args"));
    ++compared;
    const double expected = c.at("flops");
    EXPECT_NEAR(flops_per_iteration(test::golden_model(args), c.at("batch_size")), expected,
                1e-12 * expected)
        << c.at("args");
  }
  EXPECT_GE(compared, 24);
}

TEST(Flops, ThroughputPerDevice) {
  EXPECT_DOUBLE_EQ(throughput_per_device(8e15, 2.0, 8), 500.0);
}

}  // namespace mpitron::train
