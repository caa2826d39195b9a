#include "tokenizers/hugging_face/hf_model.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::tokenizers {
namespace hf_model_test {

std::unique_ptr<HfModel> model_of(const std::string& json, bool byte_level = false) {
  return make_hf_model(JsonDocument(json).root(), byte_level);
}

TokenIds encode(const HfModel& model, std::string_view piece) {
  TokenIds ids;
  model.encode(piece, ids);
  return ids;
}

// Whether the complaint about `json` has these words.
bool refused(const std::string& json, std::string_view words, bool byte_level = false) {
  const std::string message = test::message_of([&] { model_of(json, byte_level); });
  return message.find(words) != std::string::npos;
}

TEST(HfModel, WordLevelTakesWholePieces) {
  const auto model =
      model_of(R"({"type":"WordLevel","vocab":{"the":0,"<u>":3,"cat":1},"unk_token":"<u>"})");
  EXPECT_EQ(model->tokens(), (std::vector<std::string>{"the", "cat", "", "<u>"}));
  EXPECT_EQ(encode(*model, "cat"), TokenIds{1});
  EXPECT_EQ(encode(*model, "cats"), TokenIds{3});
  EXPECT_EQ(model->end_of_part("a piece", 2), 7U);
  TokenIds ids{9};
  model->encode("the", ids);
  EXPECT_EQ(ids, (TokenIds{9, 0}));
}

TEST(HfModel, WordPieceTakesTheLongest) {
  const std::string vocab = R"("vocab":{"[UNK]":0,"a":1,"ab":2,"##c":3,"##cd":4,"@d":5})";
  const auto model = model_of("{" + vocab + R"(,"max_input_chars_per_word":4})");
  EXPECT_EQ(encode(*model, "abcd"), (TokenIds{2, 4}));
  EXPECT_EQ(encode(*model, "acc"), (TokenIds{1, 3, 3}));
  EXPECT_EQ(encode(*model, "abx"), TokenIds{0});    // not even its beginning
  EXPECT_EQ(encode(*model, "abccc"), TokenIds{0});  // five characters
  const auto other =
      model_of(R"({"type":"WordPiece","continuing_subword_prefix":"@",)" + vocab + "}");
  EXPECT_EQ(encode(*other, "ad"), (TokenIds{1, 5}));
  EXPECT_EQ(encode(*other, "ac"), TokenIds{0});
  EXPECT_EQ(encode(*other, "a" + std::string(99, 'd')).size(), 100U);
  EXPECT_EQ(encode(*other, "a" + std::string(100, 'd')), TokenIds{0});
}

TEST(HfModel, BpeWithOrWithoutItsType) {
  const std::string rest = R"("vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]})";
  for (const char* start : {"{", R"({"type":"BPE",)"}) {
    EXPECT_EQ(encode(*model_of(start + rest), "aab"), (TokenIds{0, 2})) << start;
  }
}

TEST(HfModel, ComplainsAboutVocabularies) {
  const auto words = [](const std::string& vocab) {
    return R"({"type":"WordLevel","vocab":)" + vocab + "}";
  };
  EXPECT_TRUE(refused(words(R"({"[UNK]":0,"a":0})"), "with id 0 appears twice"));
  EXPECT_TRUE(refused(words(R"({"a":-1})"), "vocab.a is -1: the id -1 is outside 0 to 16777215"));
  EXPECT_TRUE(refused(words(R"({"a":16777216})"), "the id 16777216 is outside"));
  EXPECT_TRUE(refused(words(R"({"a":"0"})"), "vocab.a is \"0\": an integer is expected"));
  EXPECT_TRUE(refused(words("{}"), "unk_token is not in its vocabulary"));
  EXPECT_TRUE(refused(R"({"type":"WordLevel"})", "vocab is missing"));
  EXPECT_TRUE(refused(R"({"type":"Unigram","vocab":[["a",0],["a",1]]})",
                      "vocab[1] is [\"a\",1]: token \"a\" with id 1 appears twice"));
  EXPECT_TRUE(
      refused(R"({"type":"Unigram","vocab":[["a"]]})", "vocab[0] is [\"a\"]: it has too few"));
}

TEST(HfModel, ComplainsAboutTypes) {
  EXPECT_TRUE(refused(R"({"type":"Other"})", "type is \"Other\": supported are BPE, WordPiece"));
  EXPECT_TRUE(refused(R"({"type":3})", "type is 3: a string is expected"));
  EXPECT_TRUE(refused(R"({"type":"Unigram","vocab":[["a",0]]})", "ByteLevel", true));
  EXPECT_TRUE(refused(R"({"type":"WordPiece","vocab":{}})", "supported for BPE only", true));
}

}  // namespace hf_model_test
}  // namespace mpitron::tokenizers
