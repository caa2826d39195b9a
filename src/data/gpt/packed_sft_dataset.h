#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/gpt/sft_dataset.h"
#include "data/gpt/sft_packing.h"

namespace mpitron::data {

/// Several conversations a sample (--sft-packing), each cut to the sequence length and ended by eod
/// as SftDataset does it. They do not see each other and their positions begin at 0, so that with a
/// loss per token the gradient is that of the same conversations one a sample.
class PackedSftDataset final : public Dataset {
 public:
  /// Encodes every conversation of the share once, on `threads` threads, to know the lengths.
  /// Errors are those of SftDataset.
  PackedSftDataset(std::shared_ptr<const ConversationFile> file, SftDatasetOptions options,
                   EncodeConversation encode, Index threads);

  Index size() const override { return options_.description.num_samples.value_or(rows_.size()); }
  /// Rows of one pass over the share.
  const PackedRows& rows() const { return rows_; }
  void read(Index sample, std::span<std::int64_t> tokens) const override;
  /// Fills a row, with an attention mask of blocks along the diagonal, in each of them causal.
  void read_row(Index sample, const GptSampleOptions& options, std::span<std::int64_t> text,
                const GptSample& row) const override;
  const std::string& description() const override { return description_; }
  void add_shares(Index samples, std::vector<SourceShare>& shares) const override;

 private:
  /// Returns a conversation cut, and ended by eod, which is learned.
  EncodedConversation ended(Index conversation) const;
  std::vector<Index> lengths(Index threads) const;

  std::shared_ptr<const ConversationFile> file_;
  SftDatasetOptions options_;
  std::string description_;
  EncodeConversation encode_;
  PackedRows rows_;
};

}  // namespace mpitron::data
