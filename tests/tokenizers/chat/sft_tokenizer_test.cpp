#include "tokenizers/chat/sft_tokenizer.h"

#include <algorithm>

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

/// A copy of the tokenizer with a chat template of its own.
class TemplateTest : public ::testing::Test {
 protected:
  SftTokenizer with_template(const std::string& text) const {
    std::filesystem::copy(qwen2(), folder_.path(), std::filesystem::copy_options::recursive);
    test::write_bytes(folder_ / "tokenizer_config.json",
                      R"({"eos_token": "<|im_end|>", "chat_template": ")" + text + "\"}");
    return {folder_.path(), "default"};
  }
  const std::vector<ChatMessage> talk_{
      {"user", "Say it"}, {"assistant", "One"}, {"user", "And"}, {"assistant", "Two"}};
  test::TemporaryFolder folder_;
};

TEST_F(TemplateTest, AnswersAreWhatARenderingHasMore) {
  const SftTokenizer tokenizer = with_template(
      "{% for m in messages %}{{ m.role }}<|im_start|>{{ m.content | trim }}<|im_end|>{% endfor %}"
      "{% if add_generation_prompt %}assistant<|im_start|>{% endif %}");
  const auto cache = tokenizer.make_cache();
  const auto [ids, targets] = tokenizer.encode_conversation(talk_, *cache);
  TokenIds learned;
  std::ranges::copy_if(targets, std::back_inserter(learned),
                       [](TokenId id) { return id != SftTokenizer::kIgnored; });
  EXPECT_EQ(tokenizer.decode(learned), "One<|im_end|>Two<|im_end|>");
}

TEST_F(TemplateTest, ATemplateThatRewritesItsPastIsRefused) {
  const SftTokenizer tokenizer = with_template(
      "{{ messages | length }}{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}");
  const auto cache = tokenizer.make_cache();
  const std::string text = test::message_of([&] { tokenizer.encode_conversation(talk_, *cache); });
  EXPECT_NE(text.find("before turn 2 (assistant)"), std::string::npos) << text;
}

}  // namespace sft_tokenizer_test
}  // namespace mpitron::tokenizers
