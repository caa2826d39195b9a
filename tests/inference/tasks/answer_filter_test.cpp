#include "inference/tasks/answer_filter.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::inference {
namespace answer_filter_test {

AnswerFilter filter(const std::string& pattern, long select) {
  return {.name = "x", .pattern = python_regex(pattern), .extracts = true, .select = select};
}

TEST(AnswerFilter, TakesTheMatchThatIsAskedFor) {
  const AnswerFilter strict = filter("#### (\\-?[0-9\\.\\,]+)", 0);
  EXPECT_EQ(strict("so 3\n#### 1,200 apples #### 7"), "1,200");
  EXPECT_EQ(strict("so 3"), "[invalid]");
  const AnswerFilter flexible = filter("(-?[$0-9.,]{2,})|(-?[0-9]+)", -1);
  EXPECT_EQ(flexible("first 12, then -5"), "-5");
  EXPECT_EQ(flexible("it costs $30."), "$30.");
  EXPECT_EQ(flexible("none"), "[invalid]");
  EXPECT_EQ(AnswerFilter()(" as it is "), " as it is ");
}

TEST(AnswerComparison, LeavesOutWhatDoesNotCount) {
  AnswerComparison comparison;
  EXPECT_FALSE(comparison.same("A", "a"));
  comparison.ignore_case = true;
  EXPECT_TRUE(comparison.same("A", "a"));
  for (const char* pattern : {",", "\\$", "(?s).*#### ", "\\.$"}) {
    comparison.ignored.push_back(python_regex(pattern));
  }
  EXPECT_TRUE(comparison.same("$1,200.", "two lines\nof text\n#### 1200"));
  EXPECT_FALSE(comparison.same("12.5", "125"));
  comparison.ignore_punctuation = true;
  EXPECT_TRUE(comparison.same("12.5", "125"));
}

TEST(AnswerFilter, SaysWhichExpressionIsWrong) {
  EXPECT_NE(test::message_of([] { python_regex("(a"); }).find("\"(a\""), std::string::npos);
}

}  // namespace answer_filter_test
}  // namespace mpitron::inference
