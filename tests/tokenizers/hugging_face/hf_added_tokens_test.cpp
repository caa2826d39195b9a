#include "tokenizers/hugging_face/hf_added_tokens.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace hf_added_tokens_test {

// The parts of a text: ids in brackets, texts in quotes.
std::string parts(const std::string& flags, std::string_view text, bool normalized = false) {
  const JsonDocument document(R"([{"id":7,"content":"<x>",)" + flags + "}]");
  const HfAddedTokens tokens(document.root(), {});
  std::string shown;
  tokens.split(
      text, true, normalized,
      [&](std::string_view part, bool) { shown += "'" + std::string(part) + "'"; },
      [&](TokenId id) { shown += "[" + std::to_string(id) + "]"; });
  return shown;
}

TEST(HfAddedTokens, SpacesBelongToTokensThatStrip) {
  EXPECT_EQ(parts(R"("normalized":false)", "a <x> b"), "'a '[7]' b'");
  EXPECT_EQ(parts(R"("normalized":false,"lstrip":true)", "a  <x> b"), "'a'[7]' b'");
  EXPECT_EQ(parts(R"("normalized":false,"rstrip":true)", "a <x> \u3000b<x>"), "'a '[7]'b'[7]");
}

TEST(HfAddedTokens, SingleWordsStandAlone) {
  EXPECT_EQ(parts(R"("normalized":false,"single_word":true)", "a<x> <x>. <x>b"),
            "'a<x> '[7]'. <x>b'");
}

TEST(HfAddedTokens, EachInItsTurn) {
  EXPECT_EQ(parts(R"("normalized":true)", "<x>"), "'<x>'");
  EXPECT_EQ(parts(R"("normalized":true)", "<x>", true), "[7]");
  EXPECT_EQ(parts(R"("special":true)", "<x>"), "[7]");  // special ones are not normalised
}

}  // namespace hf_added_tokens_test
}  // namespace mpitron::tokenizers
