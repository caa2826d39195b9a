#include <gtest/gtest.h>

#include "tokenizers/hugging_face/hf_bpe_model.h"

namespace mpitron::tokenizers {
namespace hf_bpe_encoding_test {

TokenIds encode(const std::string& options, std::string_view piece, bool byte_level = false) {
  const JsonDocument document("{" + options + "}");
  TokenIds ids;
  HfBpeModel(document.root(), byte_level).encode(piece, ids);
  return ids;
}

TEST(HfBpeEncoding, PrefixesAndSuffixesMarkPlaces) {
  const std::string vocab = R"("vocab":{"a":0,"@b":1,"@b</w>":2,"ab":3,"a</w>":4},"merges":[])";
  const std::string marks = R"("continuing_subword_prefix":"@","end_of_word_suffix":"</w>",)";
  EXPECT_EQ(encode(marks + vocab, "abb"), (TokenIds{0, 1, 2}));
  EXPECT_EQ(encode(marks + vocab, "a"), TokenIds{4});
}

TEST(HfBpeEncoding, UnknownCharactersBecomeOneTokenOrTheirBytes) {
  const std::string vocab =
      R"("vocab":{"a":0,"<u>":1,"<0xC3>":2,"<0xA9>":3},"merges":[],"unk_token":"<u>")";
  EXPECT_EQ(encode(vocab, "xay"), (TokenIds{1, 0, 1}));
  EXPECT_EQ(encode(vocab, "xya"), (TokenIds{1, 1, 0}));
  EXPECT_EQ(encode(vocab + R"(,"fuse_unk":true)", "xya"), (TokenIds{1, 0}));
  EXPECT_EQ(encode(vocab + R"(,"byte_fallback":true)", "\u00e9"), (TokenIds{2, 3}));
}

TEST(HfBpeEncoding, WholePiecesGoBeforeMerges) {
  const std::string vocab = R"("vocab":{"a":0,"b":1,"ab":2},"merges":[])";
  EXPECT_EQ(encode(vocab, "ab"), (TokenIds{0, 1}));
  EXPECT_EQ(encode(vocab + R"(,"ignore_merges":true)", "ab"), TokenIds{2});
}

}  // namespace hf_bpe_encoding_test
}  // namespace mpitron::tokenizers
