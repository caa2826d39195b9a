#include "tokenizers/hugging_face/hf_pattern.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/pieces.h"

namespace mpitron::tokenizers {
namespace hf_pattern_test {

HfPattern pattern(const std::string& json) {
  const JsonDocument document(json);
  return HfPattern(document.root());
}
HfPattern regex(const std::string& expression) {
  return pattern(R"({"Regex": ")" + expression + "\"}");
}

/// Matches in brackets.
std::string marked(const HfPattern& pattern, std::string_view text) {
  std::string out;
  pattern.for_each_part(text, [&](std::string_view part, bool is_match) {
    out += is_match ? "[" + std::string(part) + "]" : std::string(part) + "|";
  });
  return out;
}

TEST(HfPattern, StringsAndExpressions) {
  const HfPattern literal = pattern(R"({"String": "a+"})");
  EXPECT_EQ(marked(literal, "xa+a+y"), "x|[a+][a+]y|");
  EXPECT_EQ(marked(literal, "aa"), "aa|");
  EXPECT_EQ(marked(literal, ""), "");
  EXPECT_EQ(marked(regex(R"(\\p{L}+)"), "12\u00e9t\u00e9 3"), "12|[\u00e9t\u00e9] 3|");
}

TEST(HfPattern, EmptyMatchesAreNone) {
  EXPECT_EQ(marked(regex("a*"), "bab"), "b|[a]b|");
  EXPECT_EQ(marked(HfPattern(std::string()), "bbb"), "bbb|");
}

TEST(HfPattern, LineEndsAreOnigurumas) {
  EXPECT_EQ(marked(regex("^b|c$"), "a\nbc\nc"), "a\n|[b][c]\n|[c]");
}

TEST(HfPattern, ReplacesMatches) {
  std::string text = "a  b c";
  pattern(R"({"String": " "})").replace(text, "__");
  EXPECT_EQ(text, "a____b__c");
  regex("[abc]").replace(text, "");
  EXPECT_EQ(text, "______");
}

TEST(HfPattern, RefusesWhatItCannotRead) {
  EXPECT_NE(test::message_of([] { regex("(a"); }).find("not understood at byte 2"),
            std::string::npos);
  EXPECT_NE(test::message_of([] { regex("[a-z&&[^b]]"); }).find("&&"), std::string::npos);
  EXPECT_NE(test::message_of([] { pattern(R"({"Text": "a"})"); }).find("\"Regex\""),
            std::string::npos);
}

}  // namespace hf_pattern_test
}  // namespace mpitron::tokenizers
