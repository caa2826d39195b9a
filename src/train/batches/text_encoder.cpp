#include "train/batches/text_encoder.h"

#include <memory>

#include "tokenizers/chat/sft_tokenizer.h"
#include "utils/check.h"

namespace mpitron::train {

TokenizerCaches::Handle TokenizerCaches::take() {
  const std::lock_guard lock(turn_);
  if (idle_.empty()) {
    return tokenizer_.make_cache();
  }
  Handle cache = std::move(idle_.back());
  idle_.pop_back();
  return cache;
}

void TokenizerCaches::give_back(Handle cache) {
  const std::lock_guard lock(turn_);
  idle_.push_back(std::move(cache));
}

EncodeText make_text_encoder(const tokenizers::Tokenizer& tokenizer) {
  const auto caches = std::make_shared<TokenizerCaches>(tokenizer);
  return [&tokenizer, caches](std::string_view text) {
    TokenizerCaches::Handle cache = caches->take();
    tokenizers::TokenIds ids;
    tokenizer.encode_part(text, *cache, ids);
    caches->give_back(std::move(cache));
    return std::vector<std::int64_t>(ids.begin(), ids.end());
  };
}

/// Makes the encoder of conversations: ids and targets by the tokenizer, the targets then for the
/// turns that are learned.
data::EncodeConversation make_conversation_encoder(const tokenizers::Tokenizer& tokenizer,
                                                   data::LearnedTurns turns) {
  const auto* chat = dynamic_cast<const tokenizers::SftTokenizer*>(&tokenizer);
  MPITRON_CHECK(chat != nullptr, tokenizer.name());
  const auto caches = std::make_shared<TokenizerCaches>(tokenizer);
  return [chat, caches, turns](const data::Conversation& conversation) {
    TokenizerCaches::Handle cache = caches->take();
    const auto [ids, targets] = chat->encode_conversation(conversation, *cache);
    caches->give_back(std::move(cache));
    data::EncodedConversation encoded{{ids.begin(), ids.end()}, {targets.begin(), targets.end()}};
    data::choose_targets(encoded, turns);
    return encoded;
  };
}

}  // namespace mpitron::train
