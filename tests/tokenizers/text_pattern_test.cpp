#include "tokenizers/text_pattern.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::tokenizers {
namespace {

TEST(TextPattern, LiteralsAndExpressions) {
  const TextPattern literal = TextPattern::literal("a+");
  EXPECT_EQ(literal.find("xa+a+", 0)->begin, 1U);
  EXPECT_EQ(literal.find("xa+a+", 2)->begin, 3U);
  EXPECT_FALSE(literal.find("aa", 0));
  const TextPattern letters = TextPattern::regex("\\p{L}+");
  EXPECT_EQ(letters.find("12\u00e9t\u00e9 3", 0)->begin, 2U);
  EXPECT_EQ(letters.find("12\u00e9t\u00e9 3", 0)->end, 7U);
  EXPECT_FALSE(letters.find("12", 0));
}

TEST(TextPattern, EmptyMatchesAreNone) {
  EXPECT_FALSE(TextPattern::regex("a*").find("bbb", 0));
  EXPECT_FALSE(TextPattern::literal("").find("bbb", 0));
}

TEST(TextPattern, RefusesWhatItCannotRead) {
  EXPECT_THROW(TextPattern::regex("(a"), Error);
  EXPECT_THROW(TextPattern::regex("[a-z&&[^b]]"), Error);
}

}  // namespace
}  // namespace mpitron::tokenizers
