#include <gtest/gtest.h>

#include "tokenizers/complaint.h"
#include "tokenizers/hugging_face/hf_steps.h"

namespace mpitron::tokenizers {
namespace hf_decoder_test {

std::string decode(const std::string& json, std::vector<std::string> tokens) {
  const JsonDocument document(json);
  make_hf_decoder(document.root())(tokens);
  std::string text;
  for (const std::string& token : tokens) {
    text += token;
  }
  return text;
}

TEST(HfDecoder, EveryKind) {
  EXPECT_EQ(decode(R"({"type":"ByteLevel"})", {"a", "Ġb", "Ã", "©"}), "a b\u00e9");
  EXPECT_EQ(decode(R"({"type":"Metaspace"})", {"▁a", "▁b"}), "a b");
  EXPECT_EQ(decode(R"({"type":"Metaspace","prepend_scheme":"never"})", {"▁a"}), " a");
  EXPECT_EQ(decode(R"({"type":"WordPiece"})", {"a", "##b", ".", "c"}), "ab. c");
  EXPECT_EQ(decode(R"({"type":"WordPiece","cleanup":false})", {"a", "."}), "a .");
  EXPECT_EQ(decode(R"({"type":"BPEDecoder"})", {"a</w>", "b</w>"}), "a b");
  EXPECT_EQ(decode(R"({"type":"ByteFallback"})", {"<0xC3>", "<0xA9>", "x"}), "\u00e9x");
  EXPECT_EQ(decode(R"({"type":"ByteFallback"})", {"<0xC3>", "x"}), "\ufffdx");
  EXPECT_EQ(decode(R"({"type":"Sequence","decoders":[{"type":"Fuse"},
                   {"type":"Strip","content":" ","start":1,"stop":0}]})",
                   {" ", " a"}),
            " a");
  EXPECT_EQ(decode(R"({"type":"Replace","pattern":{"String":"_"},"content":" "})", {"_a"}), " a");
}

void expect_complaint(const std::string& json, const std::vector<std::string>& parts) {
  test::expect_complaint(make_hf_decoder, json, parts);
}

using Texts = std::vector<std::string>;

// The tokens as they are behind the rule.
Texts tokens_of(const std::string& json, Texts tokens) {
  const JsonDocument document(json);
  make_hf_decoder(document.root())(tokens);
  return tokens;
}

TEST(HfDecoder, ByteLevelKnowsItsAlphabet) {
  const std::string json = R"({"type":"ByteLevel"})";
  EXPECT_EQ(tokens_of(json, {"a", "Ċ", "Ā"}), Texts{std::string("a\n\0", 3)});
  EXPECT_EQ(decode(json, {"\u0143"}), "\xAD");    // the last stand-in
  EXPECT_EQ(decode(json, {"\u0144"}), "\u0144");  // none
  EXPECT_EQ(decode(json, {"Ġ日"}), "Ġ日");        // an added token is its own text
  EXPECT_EQ(decode(json, {"Ã"}), "\xC3");
  EXPECT_EQ(tokens_of(json, {}), Texts{""});
}

TEST(HfDecoder, MetaspaceDropsTheMarksOfTheFirstToken) {
  EXPECT_EQ(tokens_of(R"({"type":"Metaspace"})", {"▁▁a▁", "▁", "b▁c"}), (Texts{"a", " ", "b c"}));
  EXPECT_EQ(decode(R"({"type":"Metaspace","replacement":"_","prepend_scheme":"first"})",
                   {"_a", "_b", "▁"}),
            "a b▁");
  EXPECT_EQ(decode(R"({"type":"Metaspace","add_prefix_space":false})", {"▁a", "▁b"}), " a b");
  EXPECT_EQ(tokens_of(R"({"type":"Metaspace"})", {}), Texts{});
}

TEST(HfDecoder, WordPieceJoinsAndCleansUp) {
  EXPECT_EQ(decode(R"({"type":"WordPiece"})", {"##a", "##b", "c##d"}), "##ab c##d");
  EXPECT_EQ(decode(R"({"type":"WordPiece","prefix":"@"})", {"a", "@b", "##c"}), "ab ##c");
  EXPECT_EQ(decode(R"({"type":"WordPiece"})", {"do", "n't", ",", "it", "'s", "?", "!"}),
            "don't, it's?!");
  EXPECT_EQ(decode(R"({"type":"WordPiece"})", {"I", "'m", "we", "'ve", "'re"}), "I'm we've're");
  EXPECT_EQ(decode(R"({"type":"WordPiece"})", {"a", "'", "b"}), "a ' b");  // token by token
}

TEST(HfDecoder, BpeFuseAndStrip) {
  EXPECT_EQ(tokens_of(R"({"type":"BPEDecoder"})", {"a</w>b", "c</w>"}), (Texts{"a b", "c"}));
  EXPECT_EQ(decode(R"({"type":"BPEDecoder","suffix":"_"})", {"a_", "b</w>"}), "a b</w>");
  EXPECT_EQ(tokens_of(R"({"type":"Fuse"})", {"a", "", "b"}), Texts{"ab"});
  EXPECT_EQ(tokens_of(R"({"type":"Fuse"})", {}), Texts{""});
  EXPECT_EQ(tokens_of(R"({"type":"Strip","content":"_","start":1,"stop":2})",
                      {"__a__", "a_b", "_", "___", ""}),
            (Texts{"_a", "a_b", "", "", ""}));
  EXPECT_EQ(decode(R"({"type":"Strip","content":"_"})", {"_a_"}), "_a_");
}

TEST(HfDecoder, SequencesRunInOrder) {
  // Llama 2's.
  const std::string llama = R"({"type":"Sequence","decoders":[
      {"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},
      {"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})";
  EXPECT_EQ(tokens_of(llama, {"▁a", "<0xC3>", "<0xA9>", "▁▁b"}), Texts{"a\u00e9  b"});
  EXPECT_EQ(tokens_of(R"({"type":"Sequence","decoders":[null]})", {"a", "b"}), (Texts{"a", "b"}));
  EXPECT_EQ(decode(R"({"type":"Replace","pattern":{"Regex":"\\d+"},"content":"#"})", {"1", "a23"}),
            "#a#");
  const JsonDocument null("null");
  EXPECT_FALSE(make_hf_decoder(null.root()));
}

TEST(HfDecoder, ComplaintsNameThePlace) {
  expect_complaint(R"({"type":"CTC"})", {"type is \"CTC\"", "this decoder is not supported",
                                         "Sequence, ByteLevel, Metaspace", "Fuse, Strip"});
  expect_complaint(R"({"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"fuse"}]})",
                   {"decoders[1].type", "\"fuse\""});
  expect_complaint("{}", {"type is missing"});
  expect_complaint("true", {"an object is expected"});
  expect_complaint(R"({"type":"Sequence"})", {"decoders is missing"});
  expect_complaint(R"({"type":"Sequence","decoders":"a"})", {"an array is expected"});
  expect_complaint(R"({"type":"Strip"})", {"content is missing"});
  expect_complaint(R"({"type":"Strip","content":" ","start":"1"})",
                   {"start is \"1\"", "an integer is expected"});
  expect_complaint(R"({"type":"Strip","content":" ","stop":1.5})", {"stop is 1.5"});
  expect_complaint(R"({"type":"Replace","content":""})", {"pattern is missing"});
  expect_complaint(R"({"type":"Replace","pattern":{},"content":""})",
                   {"pattern is {}", "expected"});
  expect_complaint(R"({"type":"WordPiece","cleanup":1})", {"cleanup is 1", "true or false"});
  expect_complaint(R"({"type":"BPEDecoder","suffix":1})", {"suffix is 1", "a string is expected"});
  expect_complaint(R"({"type":"Metaspace","prepend_scheme":"last"})",
                   {"prepend_scheme is \"last\"", "supported are first, never, always"});
}

}  // namespace hf_decoder_test
}  // namespace mpitron::tokenizers
