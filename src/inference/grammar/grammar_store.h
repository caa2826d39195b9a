#pragma once
#include <list>

#include "inference/grammar/grammar_constraint.h"

namespace mpitron::inference {

/// Keeps compiled grammars of one vocabulary: those asked for last, since clients ask for the same
/// again and again. Any thread may call.
class GrammarStore {
 public:
  explicit GrammarStore(const tokenizers::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Returns what `make` makes, or what it made when `key` was last asked for. Passes its errors
  /// on.
  std::shared_ptr<CompiledGrammar> get(const std::string& key,
                                       const std::function<Grammar()>& make);

 private:
  static constexpr std::size_t kMost = 16;

  const tokenizers::Tokenizer& tokenizer_;
  std::mutex mutex_;
  std::shared_ptr<const TokenTrie> tokens_;  // made for the first grammar
  std::list<std::pair<std::string, std::shared_ptr<CompiledGrammar>>> kept_;  // last used first
};

}  // namespace mpitron::inference
