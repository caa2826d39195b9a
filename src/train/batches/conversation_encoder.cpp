#include "train/batches/conversation_encoder.h"

#include <memory>
#include <mutex>
#include <vector>

#include "tokenizers/chat/sft_tokenizer.h"
#include "utils/check.h"

namespace mpitron::train {
namespace {

using CacheHandle = std::unique_ptr<tokenizers::Tokenizer::Cache>;

/// One for each of the calls that run at once.
class Caches {
 public:
  explicit Caches(const tokenizers::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  CacheHandle take() {
    const std::lock_guard lock(turn_);
    if (idle_.empty()) {
      return tokenizer_.make_cache();
    }
    CacheHandle cache = std::move(idle_.back());
    idle_.pop_back();
    return cache;
  }
  void give_back(CacheHandle cache) {
    const std::lock_guard lock(turn_);
    idle_.push_back(std::move(cache));
  }

 private:
  const tokenizers::Tokenizer& tokenizer_;
  std::mutex turn_;
  std::vector<CacheHandle> idle_;
};

}  // namespace

data::EncodeConversation make_conversation_encoder(const tokenizers::Tokenizer& tokenizer,
                                                   data::LearnedTurns turns) {
  const auto* chat = dynamic_cast<const tokenizers::SftTokenizer*>(&tokenizer);
  MPITRON_CHECK(chat != nullptr, tokenizer.name());
  const auto caches = std::make_shared<Caches>(tokenizer);
  return [chat, caches, turns](const data::Conversation& conversation) {
    CacheHandle cache = caches->take();
    const auto [ids, targets] = chat->encode_conversation(conversation, *cache);
    caches->give_back(std::move(cache));
    data::EncodedConversation encoded{{ids.begin(), ids.end()}, {targets.begin(), targets.end()}};
    data::choose_targets(encoded, turns);
    return encoded;
  };
}

}  // namespace mpitron::train
