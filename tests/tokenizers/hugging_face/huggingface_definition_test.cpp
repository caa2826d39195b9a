#include <fstream>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/hugging_face/hugging_face_file.h"
#include "tokenizers/hugging_face/huggingface_tokenizer.h"

namespace mpitron::tokenizers {
namespace huggingface_definition_test {

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

}  // namespace huggingface_definition_test

}  // namespace mpitron::tokenizers
