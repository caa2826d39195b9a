#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "data/conversation_file.h"
#include "data/gpt_sample.h"

namespace mpitron::data {

/// A conversation as tokens; `targets[i]` is token i where it is to be learned, else kNotLearned.
struct EncodedConversation {
  static constexpr std::int64_t kNotLearned = -100;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> targets;
};
using EncodeConversation = std::function<EncodedConversation(const Conversation&)>;

struct SftDatasetOptions {
  Index begin = 0;  // conversations [begin, end) of the file
  Index end = 0;
  std::optional<Index> num_samples;  // nothing: each once
  Index seq_length = 0;
  std::int64_t eod = 0;
  std::int64_t pad = 0;
};

/// Megatron's SFTDataset: a conversation a sample, in the order of the file, again from the first
/// after the last. Cut to the sequence length less one, eod, padding; labels are the targets one
/// token later.
class SftDataset {
 public:
  /// Error(usage) for an empty share of the file, or a tokenizer without a token for padding.
  SftDataset(std::shared_ptr<const ConversationFile> file, SftDatasetOptions options,
             EncodeConversation encode);

  Index size() const { return options_.num_samples.value_or(options_.end - options_.begin); }
  /// Tokens, labels, loss mask and positions. Labels that do not count are kNotLearned or padding,
  /// as in the reference; their loss mask is 0.
  void read(Index sample, const GptSample& out) const;

 private:
  std::shared_ptr<const ConversationFile> file_;
  SftDatasetOptions options_;
  EncodeConversation encode_;
};

}  // namespace mpitron::data
