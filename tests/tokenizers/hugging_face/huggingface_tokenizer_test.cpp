#include "tokenizers/hugging_face/huggingface_tokenizer.h"

#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/families_folder.h"
#include "utils/system/files.h"

namespace mpitron::tokenizers {
namespace huggingface_tokenizer_test {

std::filesystem::path family(const std::string& name) {
  return families_folder() / name;
}

class HuggingFaceFile : public ::testing::Test {
 protected:
  std::string message_for(const std::string& json) {
    std::ofstream(folder_ / "tokenizer.json") << json;
    return test::message_of([&] { HuggingFaceTokenizer tokenizer(folder_.path()); });
  }
  void expect_message(const std::string& json, const std::string& part) {
    const std::string message = message_for(json);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  test::TemporaryFolder folder_;
};

constexpr const char* kModel =
    R"("model":{"type":"WordLevel","vocab":{"[UNK]":0},"unk_token":"[UNK]"})";

TEST_F(HuggingFaceFile, RefusesByNameAndPath) {
  expect_message("[", "not valid JSON");
  expect_message("{}", "model is missing");
  expect_message(std::string(R"({"normalizer":{"type":"Nmt"},)") + kModel + "}",
                 "normalizer.type is \"Nmt\"");
  expect_message(
      std::string(R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Thai"}]},)") +
          kModel + "}",
      "pre_tokenizer.pretokenizers[0].type is \"Thai\"");
  expect_message(std::string(R"({"post_processor":{"type":"X"},)") + kModel + "}",
                 "post_processor.type is \"X\"");
  expect_message(std::string(R"({"decoder":{"type":"CTC"},)") + kModel + "}",
                 "decoder.type is \"CTC\"");
  expect_message(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}})",
                 "model.merges[0] is \"a b\"");
  expect_message(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}})",
                 "model.dropout");
  expect_message(R"({"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}})", "outside");
}

TEST_F(HuggingFaceFile, MissingFilesAndTokens) {
  EXPECT_NE(test::message_of([] {
              HuggingFaceTokenizer tokenizer("meta/some-model");
            }).find("names of models on a hub"),
            std::string::npos);
  std::ofstream(folder_ / "tokenizer.json") << "{" << kModel << "}";
  const HuggingFaceTokenizer tokenizer(folder_.path());
  EXPECT_NE(test::message_of([&] { tokenizer.eod(); }).find("eos_token"), std::string::npos);
}

TEST(HuggingFaceTokenizer, ReadsItsConfig) {
  const HuggingFaceTokenizer tokenizer(family("hf_llama3"));
  EXPECT_EQ(tokenizer.eod(), tokenizer.find("<|end_of_text|>"));
  EXPECT_EQ(tokenizer.special_ids().bos, tokenizer.find("<|begin_of_text|>"));
  EXPECT_EQ(tokenizer.files().size(), 2U);
  EXPECT_EQ(tokenizer.prefix(), (TokenIds{*tokenizer.special_ids().bos}));
}

// Changed files are refused with an Error or make a tokenizer that works; nothing else happens.
TEST_F(HuggingFaceFile, SurvivesMutations) {
  std::mt19937 random(23);
  for (const char* name : {"hf_gpt2", "hf_bert", "hf_unigram_bytes", "hf_llama2", "hf_mixed"}) {
    const std::string good = read_file(family(name) / "tokenizer.json");
    for (int round = 0; round < 25; ++round) {
      std::string json = good;
      for (std::size_t i = 1 + random() % 3; i > 0; --i) {
        const std::size_t span = random() % 2 == 0 ? 2000 : json.size();
        const std::size_t at = random() % std::min(span, json.size());
        switch (random() % 4) {
          case 0:
            json[at] = static_cast<char>(random());
            break;
          case 1:
            json.erase(at, 1 + random() % 20);
            break;
          case 2:
            json.insert(at, json.substr(random() % json.size(), random() % 30));
            break;
          default:
            json[at] = "0123456789\"{}[],:tf"[random() % 19];
        }
      }
      std::ofstream(folder_ / "tokenizer.json") << json;
      try {
        const HuggingFaceTokenizer tokenizer(folder_.path());
        tokenizer.decode(tokenizer.encode("some text  with <s> and ab 123 \u00e9\u4e2d"));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::data);
      }
    }
  }
}

}  // namespace huggingface_tokenizer_test
}  // namespace mpitron::tokenizers
