#include "train/batches/conversation_encoder.h"

#include <memory>

#include "tokenizers/chat/sft_tokenizer.h"
#include "train/batches/text_encoder.h"
#include "utils/check.h"

namespace mpitron::train {
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
