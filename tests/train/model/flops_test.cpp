#include "train/model/flops.h"

#include <gtest/gtest.h>

#include "support/golden_dimensions.h"

namespace mpitron::train {

TEST(Flops, EqualsReferenceTable) {
  const nlohmann::json table = test::golden_table("flops");
  int compared = 0;
  for (const auto& c : table.at("cases")) {
    const test::GoldenArguments args(c.at("args"));
    if (args.flag("is_hybrid_model")) {
      continue;  // no model here has state space layers
    }
    ++compared;
    const double expected = c.at("flops");
    EXPECT_NEAR(flops_per_iteration(test::golden_dimensions(args), c.at("batch_size")), expected,
                1e-12 * expected)
        << c.at("args");
  }
  EXPECT_GE(compared, 18);
}

TEST(Flops, ThroughputPerDevice) {
  EXPECT_DOUBLE_EQ(throughput_per_device(8e15, 2.0, 8), 500.0);
}

}  // namespace mpitron::train
