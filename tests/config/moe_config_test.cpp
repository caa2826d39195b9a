#include "config/moe_config.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace moe_config_test {

TEST(MoeConfig, CountsLayersWithExpertsAlone) {
  MoeConfig moe;
  EXPECT_EQ(moe.count_layers(), 0);
  moe.layers = {true, false, true, false, true};
  EXPECT_EQ(moe.count_layers(), 3);
}

}  // namespace moe_config_test
}  // namespace mpitron::config
