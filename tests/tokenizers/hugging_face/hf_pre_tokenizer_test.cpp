#include <gtest/gtest.h>

#include "tokenizers/complaint.h"
#include "tokenizers/hugging_face/hf_steps.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace hf_pre_tokenizer_test {

using Texts = std::vector<std::string>;

Texts cut(const std::string& json, std::string_view text, bool at_start = true) {
  const JsonDocument document(json);
  TextPieces pieces;
  pieces.reset(text, at_start);
  make_hf_pre_tokenizer(document.root()).cut(pieces);
  Texts texts;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    texts.emplace_back(pieces[i]);
  }
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

void expect_complaint(const std::string& json, const std::vector<std::string>& parts) {
  test::expect_complaint(make_hf_pre_tokenizer, json, parts);
}

TEST(HfPreTokenizer, EveryBehaviorOfSplit) {
  const auto split = [](const std::string& behavior, std::string_view text) {
    return cut(R"({"type":"Split","pattern":{"String":"-"},"behavior":")" + behavior + "\"}", text);
  };
  EXPECT_EQ(split("Removed", "a-b--c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(split("Isolated", "a-b--c"), (Texts{"a", "-", "b", "-", "-", "c"}));
  EXPECT_EQ(split("MergedWithPrevious", "a-b--c"), (Texts{"a-", "b-", "-", "c"}));
  EXPECT_EQ(split("MergedWithNext", "a-b--c"), (Texts{"a", "-b", "-", "-c"}));
  EXPECT_EQ(split("Contiguous", "a-b--c"), (Texts{"a", "-", "b", "--", "c"}));
  EXPECT_EQ(split("MergedWithPrevious", "-a"), (Texts{"-", "a"}));
  EXPECT_EQ(split("MergedWithNext", "a-"), (Texts{"a", "-"}));
  EXPECT_EQ(split("Removed", "--"), Texts{});
  EXPECT_EQ(split("Contiguous", "--"), Texts{"--"});
  EXPECT_EQ(split("Isolated", ""), Texts{});
  EXPECT_EQ(cut(R"({"type":"Split","pattern":{"String":"-"}})", "a-b"), (Texts{"a", "-", "b"}));
}

TEST(HfPreTokenizer, InvertedSplitMatchesWhatThePatternDoesNot) {
  EXPECT_EQ(cut(R"({"type":"Split","pattern":{"Regex":"\\d+"},"behavior":"MergedWithPrevious",
                "invert":true})",
                "a12b"),
            (Texts{"a", "12b"}));
  EXPECT_EQ(cut(R"({"type":"Split","pattern":{"Regex":"\\d*"},"behavior":"Removed"})", "a12b"),
            (Texts{"a", "b"}));  // empty matches do not count
}

TEST(HfPreTokenizer, ClassesOfUnicode) {
  EXPECT_EQ(cut(R"({"type":"Digits"})", "x²Ⅷ٣y"), (Texts{"x", "²Ⅷ٣", "y"}));
  EXPECT_EQ(cut(R"({"type":"Digits","individual_digits":true})", "²Ⅷ٣"), (Texts{"²", "Ⅷ", "٣"}));
  EXPECT_EQ(cut(R"({"type":"Punctuation"})", "a?!$€b¿"), (Texts{"a", "?", "!", "$", "€b", "¿"}));
  EXPECT_EQ(cut(R"({"type":"WhitespaceSplit"})", "a\u3000b\u00a0\u2028c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(cut(R"({"type":"Whitespace"})", "e\u0301é_1€+"), (Texts{"e\u0301é_1", "€+"}));
  EXPECT_EQ(cut(R"({"type":"BertPreTokenizer"})", "\u3000a!!\tb_c"),
            (Texts{"a", "!", "!", "b", "_", "c"}));
  EXPECT_EQ(cut(R"({"type":"WhitespaceSplit"})", " \t\n"), Texts{});
}

TEST(HfPreTokenizer, NulAndInvalidBytesStay) {
  const std::string nul("a\0b", 3);
  EXPECT_EQ(cut(R"({"type":"Whitespace"})", nul), (Texts{"a", std::string(1, '\0'), "b"}));
  EXPECT_EQ(cut(R"({"type":"WhitespaceSplit"})", nul), Texts{nul});
  EXPECT_EQ(cut(R"({"type":"WhitespaceSplit"})", "a\xFF b"), (Texts{"a\xFF", "b"}));
  EXPECT_EQ(cut(R"({"type":"Digits"})", "1\xE2\x96"), (Texts{"1", "\xE2\x96"}));
}

TEST(HfPreTokenizer, ByteLevelPutsASpaceInFrontOnce) {
  EXPECT_EQ(cut(R"({"type":"ByteLevel"})", " a"), Texts{" a"});
  EXPECT_EQ(cut(R"({"type":"ByteLevel"})", ""), Texts{});
  EXPECT_EQ(cut(R"({"type":"ByteLevel","use_regex":false})", "a b"), Texts{" a b"});
  EXPECT_EQ(cut(R"({"type":"ByteLevel","add_prefix_space":false})", "it's 12  x"),
            (Texts{"it", "'s", " 12", " ", " x"}));
  EXPECT_EQ(
      cut(R"({"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"ByteLevel"}]})", "a1"),
      (Texts{" a", " 1"}));
}

TEST(HfPreTokenizer, SequencesKnowWhereTheTextStarts) {
  const std::string json = R"({"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},null,
      {"type":"Metaspace","replacement":"_","prepend_scheme":"first"}]})";
  EXPECT_EQ(cut(json, "a b"), (Texts{"_a", "b"}));
  EXPECT_EQ(cut(json, " a b"), (Texts{"a", "b"}));
  EXPECT_EQ(cut(json, "a b", false), (Texts{"a", "b"}));
  EXPECT_EQ(cut(R"({"type":"Sequence","pretokenizers":[]})", "a b"), Texts{"a b"});
  EXPECT_EQ(cut(R"({"type":"Metaspace"})", "a b"), (Texts{"▁a", "▁b"}));
  EXPECT_EQ(cut(R"({"type":"Metaspace","add_prefix_space":false})", "a b "),
            (Texts{"a", "▁b", "▁"}));
}

TEST(HfPreTokenizer, OnlyByteLevelIsOfBytes) {
  const auto byte_level = [](const std::string& json) {
    const JsonDocument document(json);
    return make_hf_pre_tokenizer(document.root()).byte_level;
  };
  EXPECT_TRUE(byte_level(R"({"type":"ByteLevel"})"));
  EXPECT_TRUE(byte_level(
      R"({"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"ByteLevel"}]})"));
  EXPECT_FALSE(byte_level(R"({"type":"Sequence","pretokenizers":[]})"));
  EXPECT_FALSE(byte_level(R"({"type":"Metaspace"})"));
  EXPECT_FALSE(byte_level("null"));
  const JsonDocument null("null");
  EXPECT_FALSE(make_hf_pre_tokenizer(null.root()).cut);
}

TEST(HfPreTokenizer, ComplaintsNameThePlace) {
  expect_complaint(R"({"type":"Nope"})", {"type is \"Nope\"", "this pre-tokenizer is not supported",
                                          "Sequence, ByteLevel, Metaspace", "CharDelimiterSplit"});
  expect_complaint(R"({"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"No"}]})",
                   {"pretokenizers[1].type", "not supported"});
  expect_complaint(
      R"({"type":"Sequence","pretokenizers":[{"type":"ByteLevel"},{"type":"Digits"}]})",
      {"pretokenizers[1]", "nothing may follow ByteLevel"});
  expect_complaint(R"({})", {"type is missing"});
  expect_complaint("5", {"an object is expected"});
  expect_complaint(R"({"type":1})", {"type is 1", "a string is expected"});
  expect_complaint(R"({"type":"Sequence"})", {"pretokenizers is missing"});
  expect_complaint(R"({"type":"Sequence","pretokenizers":{}})", {"an array is expected"});
  expect_complaint(R"({"type":"Split"})", {"pattern is missing"});
  expect_complaint(R"({"type":"Split","pattern":{"X":"a"}})", {"pattern is", "is expected"});
  expect_complaint(R"({"type":"Split","pattern":{"Regex":"("}})", {"pattern", "not understood"});
  expect_complaint(R"({"type":"Split","pattern":{"Regex":"[a&&b]"}})", {"intersects classes"});
  expect_complaint(R"({"type":"Punctuation","behavior":"Merged"})",
                   {"behavior is \"Merged\"", "supported are Removed, Isolated"});
  expect_complaint(R"({"type":"Digits","individual_digits":1})",
                   {"individual_digits is 1", "true or false is expected"});
  expect_complaint(R"({"type":"CharDelimiterSplit"})", {"delimiter is missing"});
  expect_complaint(R"({"type":"Metaspace","prepend_scheme":"last"})", {"first, never, always"});
}

}  // namespace hf_pre_tokenizer_test
}  // namespace mpitron::tokenizers
