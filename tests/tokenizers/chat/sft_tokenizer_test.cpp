#include "tokenizers/chat/sft_tokenizer.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/families_folder.h"

namespace mpitron::tokenizers {
namespace sft_tokenizer_test {

std::filesystem::path qwen2() {
  return families_folder() / "hf_qwen2";
}

TEST(SftTokenizer, MasksEverythingButAnswers) {
  const SftTokenizer tokenizer(qwen2(), "chatml");
  const auto cache = tokenizer.make_cache();
  const std::vector<ChatMessage> talk{{"user", "Say it"}, {"assistant", "The token"}};
  const auto [ids, targets] = tokenizer.encode_conversation(talk, *cache);
  EXPECT_EQ(tokenizer.decode(ids),
            "<|im_start|>user\nSay it<|im_end|>\n<|im_start|>assistant\nThe token<|im_end|>\n");
  TokenIds learned;
  ASSERT_EQ(ids.size(), targets.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (targets[i] != SftTokenizer::kIgnored) {
      EXPECT_EQ(targets[i], ids[i]);
      learned.push_back(ids[i]);
    }
  }
  EXPECT_EQ(tokenizer.decode(learned), "The token<|im_end|>\n");
}

TEST(SftTokenizer, RefusesWhatDoesNotFit) {
  EXPECT_NE(
      test::message_of([] { SftTokenizer(qwen2(), "nemotron-h-aligned"); }).find("<SPECIAL_233>"),
      std::string::npos);
  EXPECT_NE(test::message_of([] { SftTokenizer(qwen2(), "default"); }).find("missing"),
            std::string::npos);
}

}  // namespace sft_tokenizer_test
}  // namespace mpitron::tokenizers
