#include "tokenizers/hf_pre_tokenizer.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::tokenizers {
namespace {

using Texts = std::vector<std::string>;

Texts cut(const std::string& json, std::string_view text, bool at_start = true) {
  const JsonDocument document(json);
  TextPieces pieces;
  pieces.reset(text, at_start);
  make_hf_pre_tokenizer(document.root()).cut(pieces);
  Texts texts;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    texts.emplace_back(pieces[i]);
  return texts;
}

TEST(HfPreTokenizer, EveryKind) {
  EXPECT_EQ(cut(R"({"type":"ByteLevel","add_prefix_space":true})", "a b1"),
            (Texts{" a", " b", "1"}));
  EXPECT_EQ(cut(R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})", "a b"),
            (Texts{"a b"}));
  EXPECT_EQ(cut(R"({"type":"Whitespace"})", " a_1, b!! "), (Texts{"a_1", ",", "b", "!!"}));
  EXPECT_EQ(cut(R"({"type":"WhitespaceSplit"})", " a, b\t"), (Texts{"a,", "b"}));
  EXPECT_EQ(cut(R"({"type":"Digits","individual_digits":true})", "a12"), (Texts{"a", "1", "2"}));
  EXPECT_EQ(cut(R"({"type":"Digits","individual_digits":false})", "a12"), (Texts{"a", "12"}));
  EXPECT_EQ(cut(R"({"type":"Punctuation","behavior":"Contiguous"})", "a?!b"),
            (Texts{"a", "?!", "b"}));
  EXPECT_EQ(cut(R"({"type":"BertPreTokenizer"})", " a,b "), (Texts{"a", ",", "b"}));
  EXPECT_EQ(cut(R"({"type":"CharDelimiterSplit","delimiter":"-"})", "a-b"), (Texts{"a", "b"}));
  EXPECT_EQ(cut(R"({"type":"Split","pattern":{"Regex":"\\d"},"behavior":"Removed","invert":true})",
                "a1b2"),
            (Texts{"1", "2"}));
}

TEST(HfPreTokenizer, Metaspace) {
  const std::string always = R"({"type":"Metaspace","replacement":"_","prepend_scheme":"always"})";
  EXPECT_EQ(cut(always, "a  b"), (Texts{"_a", "_", "_b"}));
  EXPECT_EQ(cut(always, " a"), (Texts{"_a"}));
  const std::string first = R"({"type":"Metaspace","replacement":"_","prepend_scheme":"first"})";
  EXPECT_EQ(cut(first, "a", true), (Texts{"_a"}));
  EXPECT_EQ(cut(first, "a", false), (Texts{"a"}));
  EXPECT_EQ(cut(R"({"type":"Metaspace","replacement":"_","add_prefix_space":false,"split":false})",
                "a b"),
            (Texts{"a_b"}));
}

TEST(HfPreTokenizer, NothingFollowsByteLevel) {
  EXPECT_THROW(cut(R"({"type":"Sequence","pretokenizers":[{"type":"ByteLevel"},
                   {"type":"Whitespace"}]})",
                   "a"),
               Error);
}

}  // namespace
}  // namespace mpitron::tokenizers
