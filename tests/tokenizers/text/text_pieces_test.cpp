#include "tokenizers/text/text_pieces.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace text_pieces_test {

using Behavior = TextPieces::Behavior;

// Every '-' is a match.
void cut_dashes(std::string_view text, std::vector<TextPieces::Part>& parts) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    parts.push_back({text.substr(i, 1), text[i] == '-'});
  }
  // letters that follow each other are one part
  std::vector<TextPieces::Part> joined;
  for (const auto& part : parts) {
    if (!joined.empty() && !part.is_match && !joined.back().is_match) {
      joined.back().text = {joined.back().text.data(), joined.back().text.size() + 1};
    } else {
      joined.push_back(part);
    }
  }
  parts = joined;
}

std::vector<std::string> split(Behavior behavior) {
  TextPieces pieces;
  pieces.reset("the-final--countdown", true);
  pieces.split(behavior, cut_dashes);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    texts.emplace_back(pieces[i]);
  }
  return texts;
}

// The example of the documentation of the library tokenizers.
TEST(TextPieces, BehavesAsDocumented) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(split(Behavior::removed), (Texts{"the", "final", "countdown"}));
  EXPECT_EQ(split(Behavior::isolated), (Texts{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(split(Behavior::merged_with_previous), (Texts{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(split(Behavior::merged_with_next), (Texts{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(split(Behavior::contiguous), (Texts{"the", "-", "final", "--", "countdown"}));
}

TEST(TextPieces, KnowsWhetherItBeginsTheText) {
  const auto first_pieces = [](std::string_view text) {
    TextPieces pieces;
    pieces.reset(text, true);
    pieces.split(Behavior::removed, cut_dashes);
    std::string first;
    pieces.rewrite([&](std::string_view piece, bool is_first, std::string& out) {
      first += is_first ? piece : "";
      out += piece;
    });
    return first;
  };
  EXPECT_EQ(first_pieces("-a"), "");  // what began the text was removed
  EXPECT_EQ(first_pieces("a-b"), "a");
}

}  // namespace text_pieces_test
}  // namespace mpitron::tokenizers
