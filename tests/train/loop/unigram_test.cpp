#include "train/loop/unigram.h"

#include <cmath>

#include <gtest/gtest.h>

#include "train/mock_training.h"

namespace mpitron::train {
namespace unigram_test {

void add(UnigramLoss& unigram, const std::vector<std::int64_t>& labels,
         const std::vector<float>& mask) {
  HostMicrobatch microbatch{.samples = 1, .sequence_length = static_cast<Index>(labels.size())};
  microbatch.columns = {{models::kLabels, labels}, {models::kLossMask, mask}};
  unigram.add(microbatch);
}

TEST(UnigramLoss, IsTheEntropyOfTheLabels) {
  UnigramLoss unigram;
  add(unigram, {1, 1, 2}, {1, 1, 1});
  add(unigram, {3}, {1});  // frequencies 1/2, 1/4, 1/4
  EXPECT_NEAR(unigram.loss(), 1.5 * std::log(2), 1e-12);
}

TEST(UnigramLoss, CountsOnlyWhatTheMaskKeeps) {
  UnigramLoss unigram;
  add(unigram, {1, 2, 3, 4}, {1, 0, 1, 0});
  EXPECT_NEAR(unigram.loss(), std::log(2), 1e-12);
}

TEST(UnigramLoss, IsZeroForOneTokenAndForNone) {
  UnigramLoss unigram;
  EXPECT_EQ(unigram.loss(), 0);
  add(unigram, {7, 7, 7}, {1, 1, 1});
  EXPECT_EQ(unigram.loss(), 0);
}

TEST(UnigramLoss, OfTheMockTextIsBelowUniform) {
  const MockTraining tiny;
  const auto loss = unigram_loss(tiny.data, tiny.config);
  ASSERT_TRUE(loss.has_value());
  EXPECT_GT(*loss, 1);
  EXPECT_LE(*loss, std::log(32));
}

TEST(UnigramLoss, IsNothingWithoutEvaluations) {
  const MockTraining blind({"--eval-iters", "0"});
  EXPECT_FALSE(unigram_loss(blind.data, blind.config));
}

}  // namespace unigram_test
}  // namespace mpitron::train
