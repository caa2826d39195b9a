#include "config/precision_config.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace precision_config_test {

TEST(Fp8Config, LeavesTheEndsOfTheModelAndNotWhatStandsBehindIt) {
  const Fp8Config fp8{.first_bf16_layers = 1, .last_bf16_layers = 2};
  const Index layers = 6;
  EXPECT_FALSE(fp8.has(1, layers));
  EXPECT_TRUE(fp8.has(2, layers));
  EXPECT_TRUE(fp8.has(4, layers));
  EXPECT_FALSE(fp8.has(5, layers));
  EXPECT_TRUE(fp8.has(7, layers));  // of multi-token prediction
}

}  // namespace precision_config_test
}  // namespace mpitron::config
