#include "train/batches/text_encoder.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tokenizers/chat/sft_tokenizer.h"
#include "tokenizers/core/null_tokenizer.h"
#include "tokenizers/families_folder.h"

namespace mpitron::train {
namespace text_encoder_test {

TEST(TextEncoder, SeveralThreadsShareIt) {
  const tokenizers::NullTokenizer tokenizer(100);
  const EncodeText encode = make_text_encoder(tokenizer);
  std::vector<std::vector<std::int64_t>> ids(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    threads.emplace_back([&, i] { ids[i] = encode("1 22 " + std::to_string(i)); });
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    threads[i].join();
    EXPECT_EQ(ids[i], (std::vector<std::int64_t>{1, 22, static_cast<std::int64_t>(i)}));
  }
}

}  // namespace text_encoder_test

namespace conversation_encoder_test {

TEST(ConversationEncoder, GivesTheTokenizersIdsAndTargetsToEveryThread) {
  const tokenizers::SftTokenizer tokenizer(tokenizers::families_folder() / "hf_qwen2", "chatml");
  const data::Conversation talk = {{"user", "Say it"}, {"assistant", "The token"}};
  const auto [ids, targets] = tokenizer.encode_conversation(talk, *tokenizer.make_cache());
  const std::vector<std::int64_t> expected_ids(ids.begin(), ids.end());
  const std::vector<std::int64_t> expected_targets(targets.begin(), targets.end());
  const data::EncodeConversation encode = make_conversation_encoder(tokenizer);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const data::EncodedConversation encoded = encode(talk);
        ASSERT_EQ(encoded.tokens, expected_ids);
        ASSERT_EQ(encoded.targets, expected_targets);
      }
    });
  }
}

}  // namespace conversation_encoder_test
}  // namespace mpitron::train
