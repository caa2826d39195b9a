#include "inference/sampling/log_probs.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace log_probs_test {

TEST(LogProbs, CountPaddedColumnsButListTrueIds) {
  const std::vector<float> logits = {0, 2, 2, 1, 3};  // the last one pads
  const double sum = 1 + 2 * std::exp(2.0) + std::exp(1.0) + std::exp(3.0);
  const TokenLogProbs result = log_probs(logits, 3, 4, 3);
  EXPECT_NEAR(result.token.value, 1 - std::log(sum), 1e-6);
  ASSERT_EQ(result.top.size(), 3u);
  EXPECT_EQ(result.top[0].id, 1);
  EXPECT_EQ(result.top[1].id, 2);
  EXPECT_EQ(result.top[2].id, 3);
  EXPECT_EQ(result.top[2].value, result.token.value);
}

TEST(LogProbs, SurvivesLargeLogits) {
  const TokenLogProbs result = log_probs(std::vector<float>{1e4f, -1e4f}, 1, 2, 9);
  EXPECT_EQ(result.token.value, -2e4f);
  EXPECT_EQ(result.top.size(), 2u);
}

}  // namespace log_probs_test
}  // namespace mpitron::inference
