#include "tokenizers/hf_decoder.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace {

std::string decode(const std::string& json, std::vector<std::string> tokens) {
  const JsonDocument document(json);
  make_hf_decoder(document.root())(tokens);
  std::string text;
  for (const std::string& token : tokens)
    text += token;
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

}  // namespace
}  // namespace mpitron::tokenizers
