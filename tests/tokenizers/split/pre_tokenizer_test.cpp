#include "tokenizers/split/pre_tokenizer.h"

#include <gtest/gtest.h>

#include "tokenizers/pieces.h"

namespace mpitron::tokenizers {
namespace pre_tokenizer_test {

Pieces split(const PreTokenizer& pre_tokenizer, std::string_view text) {
  Pieces pieces;
  pre_tokenizer.for_each_piece(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

TEST(PreTokenizer, KnownPatternsHaveLexers) {
  for (const std::string_view pattern : {kGpt2Pattern, kCl100kPattern, kQwen2Pattern, kO200kPattern,
                                         kTiktokenV1Pattern, kTiktokenV2Pattern}) {
    const PreTokenizer pre_tokenizer(pattern);
    EXPECT_TRUE(pre_tokenizer.has_lexer()) << pattern;
    constexpr std::string_view kText = "I'd say: 12345  HELLOworld\u0301's end//\n/\n\n  x";
    EXPECT_EQ(split(pre_tokenizer, kText), pieces_of(RegexLexer(Regex(pattern), kText))) << pattern;
  }
}

TEST(PreTokenizer, AnyOtherPatternGoesToPcre2) {
  const PreTokenizer pre_tokenizer("[a-z]+");
  EXPECT_FALSE(pre_tokenizer.has_lexer());
  EXPECT_EQ(split(pre_tokenizer, "ab1cd"), (Pieces{"ab", "1", "cd"}));
  const PreTokenizer copy = pre_tokenizer;
  EXPECT_EQ(split(copy, ""), Pieces{});
}

}  // namespace pre_tokenizer_test
}  // namespace mpitron::tokenizers
