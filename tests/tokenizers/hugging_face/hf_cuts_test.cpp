#include "tokenizers/hugging_face/hf_cuts.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace hf_cuts_test {

using Behavior = TextPieces::Behavior;
using Texts = std::vector<std::string>;

Texts pieces_of(std::string_view text, const HfCut& cut) {
  TextPieces pieces;
  pieces.reset(text, true);
  cut(pieces);
  Texts texts;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    texts.emplace_back(pieces[i]);
  }
  return texts;
}

TEST(HfCuts, EachCharacterOfAClassIsAMatch) {
  EXPECT_EQ(pieces_of("a12b", cut_characters(Behavior::isolated, is_number)),
            (Texts{"a", "1", "2", "b"}));
  EXPECT_EQ(pieces_of("a12b", cut_characters(Behavior::contiguous, is_number)),
            (Texts{"a", "12", "b"}));
}

TEST(HfCuts, AnInvertedPatternMatchesTheRest) {
  const HfPattern blank(" ");
  EXPECT_EQ(pieces_of("a b", cut_pattern(blank, Behavior::removed, false)), (Texts{"a", "b"}));
  EXPECT_EQ(pieces_of("a b", cut_pattern(blank, Behavior::removed, true)), Texts{" "});
}

TEST(HfCuts, WordsAreLettersDigitsAndLowLines) {
  EXPECT_EQ(pieces_of(" e_1 +-x", cut_words), (Texts{"e_1", "+-", "x"}));
  EXPECT_EQ(pieces_of("it's a b", cut_by_gpt2), (Texts{"it", "'s", " a", " b"}));
}

}  // namespace hf_cuts_test
}  // namespace mpitron::tokenizers
