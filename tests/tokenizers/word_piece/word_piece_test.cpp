#include "tokenizers/word_piece/word_piece.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace word_piece_test {

TokenIds encode(const WordPiece& pieces, std::string_view word) {
  TokenIds ids;
  pieces.encode(word, ids);
  return ids;
}

TEST(WordPiece, TakesTheLongestPieceFirst) {
  const WordPiece pieces({"[UNK]", "un", "##aff", "##able", "##a", "una"}, {.unknown = 0});
  EXPECT_EQ(encode(pieces, "unaffable"),
            (TokenIds{0}));  // greedy takes "una", and then nothing fits
  EXPECT_EQ(encode(pieces, "unaff"), (TokenIds{0}));
  EXPECT_EQ(encode(pieces, "una"), (TokenIds{5}));
  EXPECT_EQ(encode(pieces, "unaable"), (TokenIds{5, 3}));
}

TEST(WordPiece, WordsThatAreTooLongAreUnknown) {
  const WordPiece pieces({"[UNK]", "a", "##a", "\xC3\xA9", "##\xC3\xA9"},
                         {.unknown = 0, .max_characters = 3});
  EXPECT_EQ(encode(pieces, "aaa"), (TokenIds{1, 2, 2}));
  EXPECT_EQ(encode(pieces, "aaaa"), (TokenIds{0}));
  EXPECT_EQ(encode(pieces, "\xC3\xA9\xC3\xA9\xC3\xA9"), (TokenIds{3, 4, 4}));  // characters count
}

TEST(WordPiece, WithoutContinuationsOnlyWholeWords) {
  const WordPiece pieces({"[UNK]", "a", "ab"}, {.unknown = 0});
  EXPECT_EQ(encode(pieces, "ab"), (TokenIds{2}));
  EXPECT_EQ(encode(pieces, "aba"), (TokenIds{0}));
}

}  // namespace word_piece_test
}  // namespace mpitron::tokenizers
