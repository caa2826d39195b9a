#include "inference/sampling/log_probs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "support/host_runtime.h"

namespace mpitron::inference {
namespace log_probs_test {

TEST(LogProbs, CountPaddedColumnsButListTrueIds) {
  const std::vector<float> logits = {0, 2, 2, 1, 3};  // the last one pads
  const double sum = 1 + 2 * std::exp(2.0) + std::exp(1.0) + std::exp(3.0);
  const TokenLogProbs result = LogProbs(4).of(logits, 3, 3);
  EXPECT_NEAR(result.token.value, 1 - std::log(sum), 1e-6);
  ASSERT_EQ(result.top.size(), 3u);
  EXPECT_EQ(result.top[0].id, 1);
  EXPECT_EQ(result.top[1].id, 2);
  EXPECT_EQ(result.top[2].id, 3);
  EXPECT_EQ(result.top[2].value, result.token.value);
}

TEST(LogProbs, SurvivesLargeLogits) {
  const TokenLogProbs result = LogProbs(2).of(std::vector<float>{1e4f, -1e4f}, 1, 9);
  EXPECT_EQ(result.token.value, -2e4f);
  EXPECT_EQ(result.top.size(), 2u);
}

/// As sorting all of a long row would find them, ties included.
TEST(LogProbs, FindsTheLikeliestOfALongRow) {
  std::mt19937 random(1);
  std::vector<float> logits(1000);
  for (float& logit : logits) {
    logit = static_cast<float>(random() % 200);
  }
  constexpr Index kVocabulary = 970;
  logits[980] = 1000;  // pads
  std::vector<TokenId> sorted(kVocabulary);
  std::iota(sorted.begin(), sorted.end(), 0);
  const auto of = [&](TokenId id) { return logits[static_cast<std::size_t>(id)]; };
  std::ranges::stable_sort(sorted, [&](TokenId a, TokenId b) { return of(a) > of(b); });
  LogProbs log_probs(kVocabulary);
  for (const Index top : {1, 5, 15, 16, 40, 970}) {
    const TokenLogProbs result = log_probs.of(logits, 3, top);
    ASSERT_EQ(static_cast<Index>(result.top.size()), top);
    for (std::size_t i = 0; i < result.top.size(); ++i) {
      ASSERT_EQ(result.top[i].id, sorted[i]) << top << " " << i;
    }
  }
}

}  // namespace log_probs_test
}  // namespace mpitron::inference
