#include "train/batches/conversation_encoder.h"

#include <memory>
#include <mutex>

#include "tokenizers/sft_tokenizer.h"
#include "utils/check.h"

namespace mpitron::train {
namespace {

struct SharedCache {
  std::mutex turn;
  std::unique_ptr<tokenizers::Tokenizer::Cache> cache;
};

}  // namespace

data::EncodeConversation make_conversation_encoder(const tokenizers::Tokenizer& tokenizer) {
  const auto* chat = dynamic_cast<const tokenizers::SftTokenizer*>(&tokenizer);
  MPITRON_CHECK(chat != nullptr, tokenizer.name());
  const auto shared = std::make_shared<SharedCache>();
  shared->cache = chat->make_cache();
  return [chat, shared](const data::Conversation& conversation) {
    const std::lock_guard lock(shared->turn);
    const auto [ids, targets] = chat->encode_conversation(conversation, *shared->cache);
    return data::EncodedConversation{{ids.begin(), ids.end()}, {targets.begin(), targets.end()}};
  };
}

}  // namespace mpitron::train
