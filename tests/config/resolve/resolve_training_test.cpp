#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_training_test {

TrainingConfig training_of(const std::string& flags) {
  return test::parse_base(flags).run.training;
}

TEST(ResolveTraining, TracesLieBesideTheEvents) {
  EXPECT_EQ(training_of("").profile_dir, "profile");
  EXPECT_EQ(training_of("--tensorboard-dir logs").profile_dir, "logs/profile");
  EXPECT_EQ(training_of("--tensorboard-dir logs --profile-dir traces").profile_dir, "traces");
}

TEST(ResolveTraining, IntervalsOfWhatIsOffAreNotThere) {
  EXPECT_FALSE(training_of("--adlr-autoresume-interval 7").autoresume_interval.has_value());
  EXPECT_EQ(training_of("--adlr-autoresume --adlr-autoresume-interval 7").autoresume_interval, 7);
}

TEST(ResolveTraining, ARampHasThreeNumbers) {
  const auto ramp = training_of("--rampup-batch-size 2 2 40").rampup_batch_size;
  ASSERT_TRUE(ramp.has_value());
  EXPECT_FALSE(training_of("").rampup_batch_size.has_value());
}

TEST(ResolveTraining, SamplesMakeIterations) {
  const std::string flags =
      "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 32 "
      "--max-position-embeddings 32 --micro-batch-size 2 --global-batch-size 8 --lr 0.002 ";
  EXPECT_EQ(test::parse_text(flags + "--train-samples 80").run.training.train_iters, 10);
}

}  // namespace resolve_training_test
}  // namespace mpitron::config
