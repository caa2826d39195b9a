#include "tokenizers/split/regex_lexer.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/pieces.h"
#include "tokenizers/split/pre_tokenizer.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace regex_lexer_test {

Pieces split(const Regex& regex, std::string_view text) {
  return pieces_of(RegexLexer(regex, text));
}

TEST(RegexLexer, SplitsTheTextbookExample) {
  EXPECT_EQ(split(Regex(kGpt2Pattern), "Hello world's  end"),
            (Pieces{"Hello", " world", "'s", " ", " end"}));
  EXPECT_EQ(split(Regex(kGpt2Pattern), ""), Pieces{});
}

TEST(RegexLexer, WhatLiesBetweenMatchesIsAPiece) {
  const Regex digits("[0-9]+|x*");
  EXPECT_EQ(split(digits, "ab12c3"), (Pieces{"ab", "12", "c", "3"}));
  EXPECT_EQ(split(digits, "12"), (Pieces{"12"}));
  EXPECT_EQ(split(digits, "ab"), (Pieces{"ab"}));
  RegexLexer lexer(digits, "a1");
  lexer.next();
  EXPECT_FALSE(lexer.matched());
  lexer.next();
  EXPECT_TRUE(lexer.matched());
}

TEST(RegexLexer, AnInvalidPatternIsRefusedWithItsPlace) {
  EXPECT_NE(test::message_of([] { Regex("ab(c"); }).find("at byte 4"), std::string::npos);
}

TEST(RegexLexer, InvalidUtf8NamesTheByte) {
  const Regex regex(kGpt2Pattern);
  EXPECT_NE(test::message_of([&] { split(regex, "abc \xFF"); }).find("at byte 4 (0xFF)"),
            std::string::npos);
}

// Backtracking over a long run needs more than the first 32 KiB of stack.
TEST(RegexLexer, LongRuns) {
  const std::string text(1 << 20, 'q');
  EXPECT_EQ(split(Regex("(?:[a-z][a-z])+z|[a-z]+"), text), Pieces{text});
}

}  // namespace regex_lexer_test
}  // namespace mpitron::tokenizers
