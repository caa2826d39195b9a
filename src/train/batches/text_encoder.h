#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "data/gpt/conversation_file.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::train {

/// Caches of a tokenizer, one for each of the calls that run at once.
class TokenizerCaches {
 public:
  using Handle = std::unique_ptr<tokenizers::Tokenizer::Cache>;
  explicit TokenizerCaches(const tokenizers::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// One that no call uses, or a new one.
  Handle take();
  /// Keeps the cache for a later call, which finds the words that this one has met.
  void give_back(Handle cache);

 private:
  const tokenizers::Tokenizer& tokenizer_;
  std::mutex turn_;
  std::vector<Handle> idle_;
};

/// Ids of a part of a text. May be called from several threads.
using EncodeText = std::function<std::vector<std::int64_t>(std::string_view)>;
/// The tokenizer must outlive the result.
EncodeText make_text_encoder(const tokenizers::Tokenizer& tokenizer);

/// How the tokenizer of a run with `--sft`, an SftTokenizer (constraint E159), makes tokens of
/// conversations, and which of them are learned. It must outlive the result.
data::EncodeConversation make_conversation_encoder(
    const tokenizers::Tokenizer& tokenizer, data::LearnedTurns turns = data::LearnedTurns::answers);

}  // namespace mpitron::train
