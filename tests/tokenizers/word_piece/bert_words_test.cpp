#include "tokenizers/word_piece/bert_words.h"

#include <vector>

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace bert_words_test {

using Words = std::vector<std::string>;

Words words_of(std::string_view text, bool lower) {
  Words words;
  BertWords(lower).split(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

TEST(BertWords, CutsAtSpacesAndPunctuation) {
  EXPECT_EQ(words_of(" Don't\tstop\u00a0it, ok?\n", false),
            (Words{"Don", "'", "t", "stop", "it", ",", "ok", "?"}));
}

TEST(BertWords, LowersAndStripsAccents) {
  EXPECT_EQ(words_of("ÀÉ Ünder e\u0301", true), (Words{"ae", "under", "e"}));
  EXPECT_EQ(words_of("ÀÉ", false), (Words{"ÀÉ"}));
  EXPECT_EQ(words_of("ΟΔΟΣ", true), (Words{"οδος"}));  // the final sigma of str.lower
}

TEST(BertWords, IdeographsStandAlone) {
  EXPECT_EQ(words_of("a中文b", false), (Words{"a", "中", "文", "b"}));
  EXPECT_EQ(words_of("カナ", false), (Words{"カナ"}));
}

TEST(BertWords, DropsControlCharacters) {
  EXPECT_EQ(words_of(std::string_view("a\0b\x0b\u200bc\ufffd", 11), false), (Words{"abc"}));
}

TEST(BertWords, RefusesInvalidUtf8) {
  EXPECT_THROW(words_of("a\xFF", false), Error);
}

}  // namespace bert_words_test
}  // namespace mpitron::tokenizers
