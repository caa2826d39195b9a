#include "data/preprocess/sentence_characters.h"

#include <gtest/gtest.h>

namespace mpitron::data {
namespace sentence_characters_test {

TEST(SentenceCharacters, WhiteSpaceIsThatOfUnicode) {
  EXPECT_EQ(punkt::white_space(" a"), 1u);
  EXPECT_EQ(punkt::white_space("\u00a0a"), 2u);
  EXPECT_EQ(punkt::white_space("\u3000a"), 3u);
  EXPECT_EQ(punkt::white_space("\u00e9"), 0u);
  EXPECT_EQ(punkt::without_white_space_behind(" a b \u2003"), 4u);
}

TEST(SentenceCharacters, NumbersHaveADigit) {
  EXPECT_TRUE(punkt::is_number("1,000.5"));
  EXPECT_FALSE(punkt::is_number("-"));
  EXPECT_FALSE(punkt::is_number("4th"));
}

TEST(SentenceCharacters, TheLastTokenBeginsBehindPunctuation) {
  EXPECT_EQ(punkt::last_token("(e.g."), "e.g.");
  EXPECT_EQ(punkt::last_token("a)Mr."), "Mr.");
}

TEST(SentenceCharacters, ClosingQuotesBelongToTheSentenceBefore) {
  EXPECT_EQ(punkt::closing_bytes("\") he"), 2u);
  EXPECT_EQ(punkt::closing_bytes("\"He"), 0u);
}

}  // namespace sentence_characters_test
}  // namespace mpitron::data
