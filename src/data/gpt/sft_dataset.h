#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/gpt/conversation_file.h"
#include "data/gpt/dataset.h"
#include "data/index/description.h"
#include "utils/numbers/shape.h"

namespace mpitron::data {

/// A split of a file of conversations, and the ids that end and pad them.
struct SftDatasetOptions {
  GptDescription description;  // sequence length; number of samples, nothing: each once
  Index begin = 0;             // conversations [begin, end) of the file
  Index end = 0;
  std::int64_t eod = 0;
  std::int64_t pad = 0;
};

/// Throws Error(usage) for an empty share of the file, or a tokenizer without a token for padding.
void check_share(const ConversationFile& file, const SftDatasetOptions& options);

/// Cuts a conversation to the sequence length less one, and ends it by eod, which is learned.
void end_conversation(EncodedConversation& conversation, const SftDatasetOptions& options);

/// Megatron's SFTDataset: a conversation a sample, in the order of the file, again from the first
/// after the last. Cut to the sequence length less one, eod, padding; labels are the targets one
/// token later.
class SftDataset final : public Dataset {
 public:
  /// Errors are those of check_share.
  SftDataset(std::shared_ptr<const ConversationFile> file, SftDatasetOptions options,
             EncodeConversation encode);

  Index size() const override {
    return options_.description.num_samples.value_or(options_.end - options_.begin);
  }
  void read(Index sample, std::span<std::int64_t> tokens) const override;
  /// Fills a row. The loss mask is 0 for labels that are not learned, which are the token 0 (the
  /// reference has -100 there), and for padding. Positions count from 0, the mask is causal.
  void read_row(Index sample, const GptSampleOptions& options, std::span<std::int64_t> text,
                const GptSample& row) const override;
  const std::string& description() const override { return description_; }
  /// Appends the share without its tokens: to count them would encode the whole file.
  void add_shares(Index samples, std::vector<SourceShare>& shares) const override;

 private:
  /// Returns tokens and targets of the sequence length and one.
  EncodedConversation padded(Index sample) const;

  std::shared_ptr<const ConversationFile> file_;
  SftDatasetOptions options_;
  std::string description_;
  EncodeConversation encode_;
};

}  // namespace mpitron::data
