#include "inference/tasks/example_choice.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace example_choice_test {

using Places = std::vector<std::size_t>;

/// Values of Python's random.Random(1234), one after the other.
TEST(ExampleChoice, DrawsAsPython) {
  ExampleChoice draw;
  EXPECT_EQ(draw.sample(40, 5), (Places{28, 7, 0, 5, 37}));
  EXPECT_EQ(draw.sample(40, 5), (Places{2, 5, 6, 22, 15}));
  EXPECT_EQ(draw.sample(10, 4), (Places{0, 9, 8, 2}));
  EXPECT_EQ(draw.sample(2000, 7), (Places{1327, 1276, 991, 1261, 949, 304, 186}));
}

TEST(ExampleChoice, ASeedIsASequence) {
  EXPECT_EQ(ExampleChoice(7).sample(100, 3), ExampleChoice(7).sample(100, 3));
  EXPECT_NE(ExampleChoice(7).sample(100, 3), ExampleChoice(8).sample(100, 3));
}

}  // namespace example_choice_test
}  // namespace mpitron::inference
