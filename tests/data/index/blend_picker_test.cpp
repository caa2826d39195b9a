#include "data/index/blend_picker.h"

#include <gtest/gtest.h>

namespace mpitron::data {
namespace blend_picker_test {

/// Few members and many take different paths.
class BlendPickerTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(BlendPickerTest, TheFirstOfEqualsWins) {
  const std::size_t members = GetParam();
  BlendPicker picker(std::vector<double>(members, 1.0));
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < members; ++i) {
      EXPECT_EQ(picker.pick(0), i);
      EXPECT_EQ(picker.taken(i), round + 1);
    }
  }
}

TEST_P(BlendPickerTest, WhoLagsMostIsNext) {
  const std::size_t members = GetParam();
  std::vector<double> weights(members, 0.5 / static_cast<double>(members));
  weights.back() = 0.6;
  BlendPicker picker(weights);
  EXPECT_EQ(picker.pick(0), members - 1);
  EXPECT_EQ(picker.pick(1), 0U);
}

TEST_P(BlendPickerTest, WhoIsClosedIsNeverPicked) {
  const std::size_t members = GetParam();
  BlendPicker picker(std::vector<double>(members, 1.0));
  for (std::size_t i = 0; i + 1 < members; ++i) {
    picker.close(i);
  }
  EXPECT_EQ(picker.pick(0), members - 1);
  EXPECT_EQ(picker.pick(1), members - 1);
}

INSTANTIATE_TEST_SUITE_P(Members, BlendPickerTest,
                         ::testing::Values(std::size_t{2}, std::size_t{8}, std::size_t{9},
                                           std::size_t{32}, std::size_t{33}, std::size_t{100}));

}  // namespace blend_picker_test
}  // namespace mpitron::data
