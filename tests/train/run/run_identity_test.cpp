#include "train/run/run_identity.h"

#include <gtest/gtest.h>

namespace mpitron::train {
namespace run_position_test {

TEST(RunPosition, AHeaderGivesBackWhatItWasGiven) {
  const RunPosition position{
      .iteration = 7, .consumed_train_samples = 56, .consumed_valid_samples = 16};
  checkpoint::Header header;
  set_position(header, position);
  EXPECT_EQ(header.iteration, 7);
  EXPECT_EQ(header.consumed_train_samples, 56);
  EXPECT_EQ(position_of(header), position);
}

TEST(RunPosition, AConvertedModelHasValidatedNothing) {
  EXPECT_EQ(position_of({.iteration = 3}).consumed_valid_samples, 0);
}

}  // namespace run_position_test
}  // namespace mpitron::train
