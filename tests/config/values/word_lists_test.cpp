#include <gtest/gtest.h>

#include "config/values/list_expression.h"
#include "utils/error.h"

namespace mpitron::config {
namespace word_lists_test {

TEST(FinetuningLists, WordsBetweenCommas) {
  EXPECT_EQ(comma_list("q_proj,,v_proj,"), (std::vector<std::string>{"q_proj", "v_proj"}));
  EXPECT_TRUE(comma_list("").empty());
}

TEST(FinetuningLists, RangesOfLayers) {
  using Range = std::optional<std::pair<Index, Index>>;
  EXPECT_EQ(layer_range("2-5"), Range({2, 5}));
  EXPECT_EQ(layer_range("3"), Range({3, 3}));
  for (const char* bad : {"", "-", "2-", "a-b", "1-2-3", "1 - 2"}) {
    EXPECT_EQ(layer_range(bad), Range()) << bad;
  }
}

TEST(FinetuningLists, NumbersOfNames) {
  EXPECT_EQ(number_pattern("a.b=3,c=0.5"), (NumberPattern{{"a.b", 3}, {"c", 0.5}}));
  for (const char* bad : {"a", "=3", "a=", "a=x"}) {
    EXPECT_FALSE(number_pattern(bad)) << bad;
  }
}

}  // namespace word_lists_test

}  // namespace mpitron::config
