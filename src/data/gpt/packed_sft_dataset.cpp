#include "data/gpt/packed_sft_dataset.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/gpt/row_segment.h"
#include "utils/check.h"
#include "utils/system/parallel_for.h"

// Several conversations in one row. Rows are fixed at the start by the lengths of all
// conversations; tokens are encoded again when a row is read, since a whole file of them may not
// fit in memory.

namespace mpitron::data {
PackedSftDataset::PackedSftDataset(std::shared_ptr<const ConversationFile> file,
                                   SftDatasetOptions options, EncodeConversation encode,
                                   Index threads)
    : file_(std::move(file)),
      options_(std::move(options)),
      description_(describe(options_.description)),
      encode_(std::move(encode)) {
  check_share(*file_, options_);
  rows_ = pack_first_fit(lengths(threads), options_.description.seq_length);
}

EncodedConversation PackedSftDataset::ended(Index conversation) const {
  EncodedConversation encoded = file_->read_encoded(options_.begin + conversation, encode_);
  end_conversation(encoded, options_);
  return encoded;
}

std::vector<Index> PackedSftDataset::lengths(Index threads) const {
  std::vector<Index> lengths(static_cast<std::size_t>(options_.end - options_.begin));
  parallel_for(lengths.size(), threads, [&](std::size_t i) {
    lengths[i] = static_cast<Index>(ended(static_cast<Index>(i)).tokens.size());
  });
  return lengths;
}

void PackedSftDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  MPITRON_CHECK(sample >= 0 && sample < size(), sample, size());
  std::ranges::fill(tokens, options_.pad);
  std::size_t begin = 0;
  for (const Index conversation : rows_.row(sample % rows_.size())) {
    const std::vector<std::int64_t> own = ended(conversation).tokens;
    std::ranges::copy(own, tokens.begin() + static_cast<std::ptrdiff_t>(begin));
    begin += own.size();
  }
}

void PackedSftDataset::read_row(Index sample, const GptSampleOptions& /*options*/,
                                std::span<std::int64_t> /*text*/, const GptSample& row) const {
  MPITRON_CHECK(sample >= 0 && sample < size(), sample, size());
  RowSegment segment;
  for (const Index conversation : rows_.row(sample % rows_.size())) {
    const EncodedConversation own = ended(conversation);
    segment.end = segment.begin + own.tokens.size();
    write_segment(row, segment, own, options_.pad);
    segment.begin = segment.end;
  }
  write_padding(row, segment.begin, options_.pad);
}

void PackedSftDataset::add_shares(Index samples, std::vector<SourceShare>& shares) const {
  shares.push_back({.name = file_->path(),
                    .sequences = options_.end - options_.begin,
                    .epochs = (size() + rows_.size() - 1) / rows_.size(),
                    .samples = size(),
                    .used = samples});
}

}  // namespace mpitron::data
