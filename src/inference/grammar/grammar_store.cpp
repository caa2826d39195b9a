// Compiles under a lock: two clients that send a new schema at once would otherwise both pay for
// it. The list is short, and searched from its front.
#include "inference/grammar/grammar_store.h"

#include <algorithm>

namespace mpitron::inference {

std::shared_ptr<CompiledGrammar> GrammarStore::get(const std::string& key,
                                                   const std::function<Grammar()>& make) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(kept_, key, [](const auto& kept) { return kept.first; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return found->second;
  }
  const Grammar grammar = make();
  if (!tokens_) {
    tokens_ = std::make_shared<const TokenTrie>(tokenizer_);
  }
  kept_.emplace_front(key, std::make_shared<CompiledGrammar>(grammar, tokens_));
  if (kept_.size() > kMost) {
    kept_.pop_back();
  }
  return kept_.front().second;
}

}  // namespace mpitron::inference
