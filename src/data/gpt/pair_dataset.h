#pragma once
#include <memory>
#include <string>

#include "data/gpt/sft_dataset.h"

namespace mpitron::data {

/// Pairs of answers (--dpo), one a sample: the conversation with the preferred answer, behind it
/// that with the other, each ended by eod. They do not see each other and their positions begin at
/// 0. Where both are too long for the sequence, the longer one is cut first.
class PairDataset final : public Dataset {
 public:
  /// `by_length`: weights of an answer's tokens are divided by their number. `encode` says which
  /// words count: the last answer. Errors as SftDataset; Error(usage) for sequences without room.
  PairDataset(std::shared_ptr<const ConversationFile> file, SftDatasetOptions options,
              EncodeConversation encode, bool by_length);

  Index size() const override {
    return options_.description.num_samples.value_or(options_.end - options_.begin);
  }
  void read(Index sample, std::span<std::int64_t> tokens) const override;
  /// Fills a row whose loss mask holds weights: above 0 for the preferred answer, below 0 for the
  /// other.
  void read_row(Index sample, const GptSampleOptions& options, std::span<std::int64_t> text,
                const GptSample& row) const override;
  const std::string& description() const override { return description_; }
  void add_shares(Index samples, std::vector<SourceShare>& shares) const override;

 private:
  /// Both conversations, cut and ended.
  struct EncodedPair {
    EncodedConversation chosen, rejected;
  };
  EncodedPair encoded(Index sample) const;

  std::shared_ptr<const ConversationFile> file_;
  SftDatasetOptions options_;
  std::string description_;
  EncodeConversation encode_;
  bool by_length_;
};

}  // namespace mpitron::data
