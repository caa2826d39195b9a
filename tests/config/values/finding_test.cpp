#include "config/values/finding.h"

#include <array>

#include <gtest/gtest.h>

namespace mpitron::config {

namespace finding_test {

TEST(Finding, IsOneLineWithTheNearestFix) {
  const Finding finding{
      "E017", "layers_per_stage", "46 % 4 = 2.", "--num-layers 48", {"--num-layers"}};
  EXPECT_EQ(to_line(finding), "E017 layers_per_stage: 46 % 4 = 2. Nearest: --num-layers 48");
  const Finding without{"E001", "unknown_option", "there is no option --x.", "", {}};
  EXPECT_EQ(to_line(without), "E001 unknown_option: there is no option --x.");
}

TEST(Finding, ListsAllUnderOneHeading) {
  const Finding finding{"E001", "n", "m.", "", {}};
  EXPECT_EQ(to_text({finding}).find("1 problem in"), 0U);
  EXPECT_EQ(to_text({finding, finding}).find("2 problems in"), 0U);
}

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("", "ab"), 2);
  EXPECT_EQ(edit_distance("layers", "layer"), 1);
  EXPECT_EQ(edit_distance("layers", "layerz"), 1);
  EXPECT_EQ(edit_distance("layers", "alyers"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(NearestWords, PrefersTheNearestAndKeepsAtMostThree) {
  constexpr std::array<std::string_view, 5> kWords = {"aaaaaa", "aaaaab", "aaaabb", "aaabbb",
                                                      "zzzzzz"};
  const auto near = nearest_words("aaaaab", kWords);
  ASSERT_EQ(near.size(), 3U);
  EXPECT_EQ(near[0], "aaaaab");
}

TEST(NearestWords, ProposesContinuationsOfAnAbbreviation) {
  constexpr std::array<std::string_view, 2> kWords = {"tensor-model-parallel-size", "seed"};
  const auto near = nearest_words("tensor-model", kWords);
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(near[0], kWords[0]);
}

TEST(NearestWords, IsEmptyWhenNothingIsClose) {
  constexpr std::array<std::string_view, 1> kWords = {"seed"};
  EXPECT_TRUE(nearest_words("completely-else", kWords).empty());
}

TEST(NearestWords, ShortWordsMustBeNearer) {
  constexpr std::array<std::string_view, 2> kWords = {"job", "data"};
  EXPECT_TRUE(nearest_words("foo", kWords).empty());
  EXPECT_EQ(nearest_words("jbo", kWords).size(), 1U);
  EXPECT_EQ(nearest_words("dta", kWords).size(), 1U);
}

TEST(DidYouMean, NamesTheNearestWords) {
  constexpr std::array<std::string_view, 3> kWords = {"inspect", "pretrain-gpt", "pretrain-t5"};
  EXPECT_EQ(did_you_mean("inspct", kWords), "; did you mean inspect?");
  EXPECT_EQ(did_you_mean("pretrain", kWords), "; did you mean pretrain-gpt or pretrain-t5?");
  EXPECT_EQ(did_you_mean("something-else-altogether", kWords), "");
}

}  // namespace finding_test

}  // namespace mpitron::config
