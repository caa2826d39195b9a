#include "train/pretrain.h"

#include <cmath>

#include <gtest/gtest.h>

#include "train/mock_training.h"

namespace mpitron::train {
namespace {

struct MockRun {
  RunOutcome outcome;
  std::string out;
};

MockRun run(const std::vector<std::string>& flags) {
  MockTraining tiny(flags);
  Pretraining pretraining(*tiny.device, *tiny.model, tiny.data, tiny.config);
  ::testing::internal::CaptureStdout();
  const RunOutcome outcome = pretraining.run();
  return {outcome, ::testing::internal::GetCapturedStdout()};
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Pretraining, TrainsThenEvaluates) {
  const MockRun done = run({});
  EXPECT_EQ(done.outcome.iteration, 4);
  EXPECT_EQ(done.outcome.consumed_samples, 16);
  EXPECT_EQ(done.outcome.code, ExitCode::success);
  EXPECT_EQ(count(done.out, "consumed samples: "), 4);
  EXPECT_EQ(count(done.out, "on validation set"), 1);
  EXPECT_EQ(count(done.out, "on test set"), 1);
}

TEST(Pretraining, EvaluatesInBetween) {
  EXPECT_EQ(count(run({"--eval-interval", "2"}).out, "validation loss at iteration 2 |"), 1);
  EXPECT_EQ(count(run({"--eval-iters", "0"}).out, "validation loss"), 0);
}

TEST(Pretraining, AnExitConditionEndsItAtOnce) {
  const MockRun ended = run({"--exit-interval", "3"});
  EXPECT_EQ(ended.outcome.iteration, 3);
  EXPECT_EQ(ended.outcome.code, ExitCode::success);
  EXPECT_EQ(count(ended.out, "exiting program at iteration 3"), 1);
  EXPECT_EQ(count(ended.out, "validation loss"), 0);
}

TEST(Pretraining, SkippedTrainingStillEvaluates) {
  const MockRun skipped = run({"--skip-train"});
  EXPECT_EQ(skipped.outcome.iteration, 0);
  EXPECT_EQ(count(skipped.out, "lm loss: "), 0);
  EXPECT_EQ(count(skipped.out, "on test set"), 1);
}

TEST(Pretraining, TheUnigramLossOfTheMockTextIsBelowUniform) {
  MockTraining tiny;
  Pretraining pretraining(*tiny.device, *tiny.model, tiny.data, tiny.config);
  const auto loss = pretraining.unigram_loss();
  ASSERT_TRUE(loss.has_value());
  EXPECT_GT(*loss, 1);
  EXPECT_LE(*loss, std::log(32));
  MockTraining blind({"--eval-iters", "0"});
  EXPECT_FALSE(Pretraining(*blind.device, *blind.model, blind.data, blind.config).unigram_loss());
}

TEST(Pretraining, WithoutTrainingDataItIsAMistake) {
  MockTraining tiny;
  tiny.data.sets.train = nullptr;
  Pretraining pretraining(*tiny.device, *tiny.model, tiny.data, tiny.config);
  EXPECT_THROW(pretraining.run(), Error);
}

}  // namespace
}  // namespace mpitron::train
