#include "config/global_batch_size.h"

#include <gtest/gtest.h>

// tests/train/batches/num_microbatches_test.cpp compares the sizes of a ramp-up with the
// reference's.

namespace mpitron::config {
namespace global_batch_size_test {

TrainingConfig batches_of_8() {
  TrainingConfig training;
  training.micro_batch_size = 2;
  training.global_batch_size = 8;
  return training;
}

TEST(GlobalBatchSize, IterationsOfARampByHand) {
  TrainingConfig training = batches_of_8();
  EXPECT_EQ(iterations_for_samples(training, 163), 20);
  EXPECT_EQ(samples_of_iterations(training, 20), 160);
  training.rampup_batch_size = TrainingConfig::RampupBatchSize{2, 2, 24};
  // 2 2 2 2 | 4 4 | 6 6 consume 28 samples in 8 steps, then (160 - 28) / 8 = 16 full batches.
  EXPECT_EQ(scheduled_batch_size(training, 8), 4);
  EXPECT_EQ(scheduled_batch_size(training, 25), 8);
  EXPECT_EQ(iterations_for_samples(training, 160), 24);
  EXPECT_EQ(samples_of_iterations(training, 3), 6);
  EXPECT_EQ(samples_of_iterations(training, 24), 156);
  EXPECT_EQ(iterations_for_samples(training, samples_of_iterations(training, 24)), 24);
}

TEST(GlobalBatchSize, StepsByTokens) {
  TrainingConfig training = batches_of_8();
  const auto steps = read_batch_size_steps("0:2, 1K:4 0.0021M:8", 100);
  ASSERT_TRUE(steps);
  training.batch_size_steps = *steps;
  EXPECT_EQ(scheduled_batch_size(training, 0), 2);
  EXPECT_EQ(scheduled_batch_size(training, 9), 2);
  EXPECT_EQ(scheduled_batch_size(training, 10), 4);
  EXPECT_EQ(scheduled_batch_size(training, 21), 8);
  // 2 five times, 4 three times, then (102 - 22) / 8.
  EXPECT_EQ(iterations_for_samples(training, 102), 18);
  EXPECT_EQ(samples_of_iterations(training, 18), 102);
  EXPECT_EQ(samples_of_iterations(training, 6), 14);
  for (const char* text : {"", "5:2", "0:2 0:4", "0:2 9:x", "0:2 Q:3", "0 2", "0:0"}) {
    EXPECT_FALSE(read_batch_size_steps(text, 100)) << text;
  }
}

TEST(GlobalBatchSize, MicrobatchesAreThoseOfOneReplica) {
  EXPECT_EQ(num_microbatches(batches_of_8(), 1), 4);
  EXPECT_EQ(num_microbatches(batches_of_8(), 2), 2);
}

TEST(GlobalBatchSize, ARampThatStartsAtTheFullBatchIsConstant) {
  TrainingConfig training = batches_of_8();
  training.rampup_batch_size = TrainingConfig::RampupBatchSize{8, 2, 100};
  EXPECT_EQ(scheduled_batch_size(training, 0), 8);
  EXPECT_EQ(iterations_for_samples(training, 80), 10);
}

}  // namespace global_batch_size_test
}  // namespace mpitron::config
