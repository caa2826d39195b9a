#include "train/loop/skip_iterations.h"

#include <array>

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::train {

TEST(SkipIterations, Contains) {
  const SkipIterations skip(std::array<Index, 4>{9, 3, 3, 1});
  for (Index iteration = 0; iteration < 12; ++iteration) {
    EXPECT_EQ(skip.contains(iteration), iteration == 1 || iteration == 3 || iteration == 9);
  }
  EXPECT_FALSE(SkipIterations({}).contains(1));
  EXPECT_TRUE(SkipIterations({}).empty());
  EXPECT_THROW(SkipIterations(std::array<Index, 2>{5, 0}), Error);
}

TEST(SkipIterations, ParsesWordsListsAndRanges) {
  const std::vector<Index> expected{12, 3, 5, 100, 101, 102};
  EXPECT_EQ(parse_iterations(std::array<std::string_view, 3>{"12", "3,5", "100-102"}), expected);
  EXPECT_TRUE(parse_iterations({}).empty());
}

TEST(SkipIterations, RefusesWhatIsNoIteration) {
  for (const std::string_view word :
       {"", "x", "0", "-3", "3-", "5-3", "3,,4", "1.5", "1-9999999999", "99999999999999999999"}) {
    EXPECT_THROW(parse_iterations(std::array{word}), Error) << word;
  }
}

}  // namespace mpitron::train
