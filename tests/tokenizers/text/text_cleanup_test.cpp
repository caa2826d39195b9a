#include "tokenizers/text/text_cleanup.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace text_cleanup_test {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  replace_all(text, from, to);
  return text;
}

std::string cleaned(std::string text) {
  clean_up_spaces(text);
  return text;
}

TEST(TextCleanup, ReplacesAll) {
  EXPECT_EQ(replaced("", "a", "b"), "");
  EXPECT_EQ(replaced("xyz", "a", "b"), "xyz");
  EXPECT_EQ(replaced("abcab", "ab", "z"), "zcz");
  EXPECT_EQ(replaced("aaaaa", "aa", ""), "a");     // from left to right
  EXPECT_EQ(replaced("a", "aa", "b"), "a");        // longer than the text
  EXPECT_EQ(replaced("aba", "a", "aa"), "aabaa");  // what was put in is not looked at again
  EXPECT_EQ(replaced("aabb", "ab", ""), "ab");
  EXPECT_EQ(replaced(std::string("a\0b\0", 4), std::string_view("\0", 1), "-"), "a-b-");
}

TEST(TextCleanup, TakesSpacesBeforePunctuationAway) {
  EXPECT_EQ(cleaned(""), "");
  EXPECT_EQ(cleaned("a b"), "a b");
  EXPECT_EQ(cleaned("Hello , you ! Why ? So ."), "Hello, you! Why? So.");
  EXPECT_EQ(cleaned(" ."), ".");
  EXPECT_EQ(cleaned("a . . ."), "a...");
  EXPECT_EQ(cleaned("a  ."), "a .");  // one space each
  EXPECT_EQ(cleaned("a ; b : c"), "a ; b : c");
}

TEST(TextCleanup, TakesSpacesOfContractionsAway) {
  EXPECT_EQ(cleaned("I 'm , we 've , you 're , he 's , do n't"), "I'm, we've, you're, he's, don't");
  EXPECT_EQ(cleaned("don ' t"), "don't");
  EXPECT_EQ(cleaned("a 'll"), "a 'll");
  EXPECT_EQ(cleaned("a '"), "a '");
}

}  // namespace text_cleanup_test
}  // namespace mpitron::tokenizers
