#include "data/gpt/gpt_dataset.h"

#include <algorithm>

#include "utils/check.h"
#include "utils/error.h"

// A sample is a place in the shuffled row of sequences, and may begin in one and end in another.
// Three indices say where: order of sequences, begin of each sample, order of samples. They are
// built once and cached on disk under the names that Megatron uses.

namespace mpitron::data {

/// Returns the sample's row of the sample index, within bounds: the cache may be damaged.
Index GptDataset::row_of(Index sample) const {
  MPITRON_CHECK(sample >= 0 && sample < size(), sample, size());
  const Index row = shuffle_[sample];
  if (row < 0 || row >= plan_.samples) {
    fail_index(sample);
  }
  return row;
}

/// Calls body(sequence, offset, tokens) for the pieces of a sample, as far as the corpus goes.
template <class Body>
void GptDataset::for_each_piece(Index sample, Index tokens, Body&& body) const {
  const Index row = row_of(sample);
  Index position = samples_[2 * row];
  Index offset = samples_[2 * row + 1];
  for (; tokens > 0 && position < documents_.size(); ++position, offset = 0) {
    const Index sequence = position < 0 ? -1 : documents_[position];
    if (sequence < 0 || sequence >= source_->lengths().size() || offset < 0) {
      fail_index(sample);
    }
    const Index left = std::max(source_->lengths()[sequence] - offset, Index{0});
    const Index count = std::min(left, tokens);
    if (count > 0) {
      body(sequence, offset, count);
    }
    tokens -= count;
  }
}

/// Reads a sample piece by piece; behind the end of the corpus comes padding.
void GptDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  for_each_piece(sample, static_cast<Index>(tokens.size()),
                 [&](Index sequence, Index offset, Index count) {
                   const auto piece = tokens.first(static_cast<std::size_t>(count));
                   source_->read(sequence, offset, piece);
                   check_vocabulary(sequence, piece);
                   tokens = tokens.subspan(piece.size());
                 });
  std::fill(tokens.begin(), tokens.end(), pad_);
}

void GptDataset::read_row(Index sample, const GptSampleOptions& options,
                          std::span<std::int64_t> text, const GptSample& row) const {
  Dataset::read_row(sample, options, text, row);
  if (!options.inter_document_masking) {
    return;
  }
  std::vector<Index> begins;
  Index at = 0;
  for_each_piece(sample, seq_length_, [&](Index /*sequence*/, Index /*offset*/, Index count) {
    begins.push_back(at);
    at += count;
  });
  separate_documents(begins, row);
}

void GptDataset::trace(Index sample, std::vector<SamplePiece>& pieces) const {
  for_each_piece(sample, seq_length_ + extra_token_,
                 [&](Index sequence, Index offset, Index count) {
                   pieces.push_back({source_.get(), sequence, offset, count});
                 });
}

/// Returns the first row that may hold tokens of the sequence at a position of the document index:
/// the first whose successor begins there or later.
Index GptDataset::row_holding(Index position) const {
  Index low = 0;
  Index high = plan_.samples;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (samples_[2 * (middle + 1)] < position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Finds samples of which a token lies in sequences [begin, end) of the corpus of this name: rows
/// first, then the samples that have them.
void GptDataset::find(const std::string& name, Index begin, Index end,
                      std::vector<Index>& samples) const {
  const auto inside = [&](Index sequence) { return sequence >= begin && sequence < end; };
  if (source_->name() != name) {
    return;
  }
  std::vector<bool> wanted(static_cast<std::size_t>(plan_.samples));
  for (Index position = 0; position < documents_.size(); ++position) {
    if (inside(documents_[position])) {
      for (Index row = row_holding(position); row < plan_.samples && samples_[2 * row] <= position;
           ++row) {
        wanted[static_cast<std::size_t>(row)] = true;
      }
    }
  }
  // A row may end right before the sequence, or begin behind its last token.
  for (Index sample = 0; sample < size(); ++sample) {
    if (wanted[static_cast<std::size_t>(row_of(sample))]) {
      bool holds = false;
      for_each_piece(sample, seq_length_ + extra_token_,
                     [&](Index sequence, Index, Index) { holds = holds || inside(sequence); });
      if (holds) {
        samples.push_back(sample);
      }
    }
  }
}

void GptDataset::add_shares(Index samples, std::vector<SourceShare>& shares) const {
  const Index used = std::min(samples, size());
  shares.push_back({.name = source_->name(),
                    .sequences = sequences_,
                    .tokens = plan_.tokens_per_epoch,
                    .epochs = plan_.epochs,
                    .samples = size(),
                    .used = used,
                    .used_tokens = used * seq_length_});
}

/// Refuses an id beyond the vocabulary: it would be looked up outside of the table of words.
void GptDataset::check_vocabulary(Index sequence, std::span<const std::int64_t> tokens) const {
  if (vocab_size_ == 0) {
    return;
  }
  const std::uint64_t largest = largest_token(tokens);
  if (largest >= static_cast<std::uint64_t>(vocab_size_)) {
    throw_data(
        "{}: sequence {} holds the token id {}, but the vocabulary has {}; the corpus was made "
        "with another tokenizer",
        source_->name(), sequence, static_cast<std::int64_t>(largest), vocab_size_);
  }
}

void GptDataset::fail_index(Index sample) const {
  throw_data(
      "{}: the cached index of sample {} points outside the corpus; delete the files of the "
      "index cache (--data-cache-path)",
      source_->name(), sample);
}

}  // namespace mpitron::data
