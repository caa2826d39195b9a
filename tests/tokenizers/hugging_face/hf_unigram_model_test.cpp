#include "tokenizers/hugging_face/hf_unigram_model.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::tokenizers {
namespace hf_unigram_model_test {

HfUnigramModel unigram_of(const std::string& json) {
  return HfUnigramModel(JsonDocument(json).root());
}

TokenIds encode(const HfModel& model, std::string_view piece) {
  TokenIds ids;
  model.encode(piece, ids);
  return ids;
}

bool refused(const std::string& json, std::string_view words) {
  const std::string message = test::message_of([&] { unigram_of(json); });
  return message.find(words) != std::string::npos;
}

TEST(HfUnigramModel, TakesTheBestSum) {
  const auto model =
      unigram_of(R"({"vocab":[["<unk>",0],["a",-1],["b",-1],["ab",-3],["abb",-2]],"unk_id":0})");
  EXPECT_EQ(encode(model, "ab"), (TokenIds{1, 2}));
  EXPECT_EQ(encode(model, "abb"), TokenIds{4});
  EXPECT_EQ(encode(model, "axyb"), (TokenIds{1, 0, 2}));  // one unknown token for both
  EXPECT_EQ(encode(model, "\u00e9"), TokenIds{0});
  EXPECT_EQ(encode(model, ""), TokenIds{});
}

TEST(HfUnigramModel, FallsBackToBytes) {
  const std::string pieces = R"([["<unk>",0],["a",-1],["<0xC3>",-9],["<0xA9>",-9]])";
  const auto model =
      unigram_of(R"({"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":)" + pieces + "}");
  EXPECT_EQ(encode(model, "a\u00e9"), (TokenIds{1, 2, 3}));
  EXPECT_EQ(encode(model, "\u00e8"), TokenIds{0});  // one byte has no token
  const auto plain = unigram_of(R"({"type":"Unigram","unk_id":0,"vocab":)" + pieces + "}");
  EXPECT_EQ(encode(plain, "a\u00e9"), (TokenIds{1, 0}));
}

TEST(HfUnigramModel, WithoutUnknown) {
  const auto model = unigram_of(R"({"type":"Unigram","vocab":[["a",-1]],"unk_id":null})");
  EXPECT_EQ(encode(model, "aa"), (TokenIds{0, 0}));
  EXPECT_EQ(test::message_of([&] { encode(model, "axy"); }),
            "\"xy\" cannot be encoded: the Unigram model has no unk_id");
}

TEST(HfUnigramModel, ComplainsAboutUnknownIds) {
  const auto unigram = [](const std::string& unknown) {
    return R"({"type":"Unigram","vocab":[["a",0]],"unk_id":)" + unknown + "}";
  };
  EXPECT_TRUE(refused(R"({"type":"Unigram","vocab":[]})", "its vocabulary is empty"));
  EXPECT_TRUE(refused(unigram("1"), "its unk_id is outside"));
  EXPECT_TRUE(refused(unigram("-2"), "its unk_id is outside"));
}

// 2^32 must not become the id 0.
TEST(HfUnigramModel, ComplainsAboutUnknownIdsBeyond32Bits) {
  EXPECT_TRUE(refused(R"({"type":"Unigram","vocab":[["a",0]],"unk_id":4294967296})",
                      "its unk_id is outside"));
}

}  // namespace hf_unigram_model_test
}  // namespace mpitron::tokenizers
