#include "data/gpt/pair_dataset.h"

#include <algorithm>
#include <utility>

#include "data/gpt/row_segment.h"
#include "utils/check.h"
#include "utils/error.h"

// Both conversations of a pair in one row: attention does not cross from one to the other, so that
// one pass scores both answers.

namespace mpitron::data {
namespace {

void cut(EncodedConversation& conversation, std::size_t length) {
  for (auto* values : {&conversation.tokens, &conversation.targets}) {
    values->resize(std::min(values->size(), length));
  }
}

/// Turns an answer's loss mask into weights, so that the weighted sum of losses is the difference
/// of both answers' scores.
void weigh(std::span<float> mask, bool by_length, float sign) {
  const auto tokens = static_cast<float>(std::ranges::count(mask, 1.0f));
  const float weight = by_length && tokens > 0 ? sign / tokens : sign;
  std::ranges::for_each(mask, [weight](float& each) { each *= weight; });
}

}  // namespace

PairDataset::PairDataset(std::shared_ptr<const ConversationFile> file, SftDatasetOptions options,
                         EncodeConversation encode, bool by_length)
    : file_(std::move(file)),
      options_(std::move(options)),
      description_(describe(options_.description)),
      encode_(std::move(encode)),
      by_length_(by_length) {
  check_share(*file_, options_);
  if (options_.description.seq_length < 4) {
    throw_usage("--dpo: --seq-length {} has no room for two answers",
                options_.description.seq_length);
  }
}

/// Encodes a pair and cuts it to the sequence. A text shorter than its half leaves the rest of it
/// to the other.
PairDataset::EncodedPair PairDataset::encoded(Index sample) const {
  MPITRON_CHECK(sample >= 0 && sample < size(), sample, size());
  const Index row = options_.begin + sample % (options_.end - options_.begin);
  const AnswerPair pair = file_->read_pair(row);
  EncodedPair result{file_->encoded(row, pair.chosen, encode_),
                     file_->encoded(row, pair.rejected, encode_)};
  const auto s = static_cast<std::size_t>(options_.description.seq_length);
  const auto room_beside = [s](const EncodedConversation& other) {
    return std::max(s / 2, s - std::min(s, other.tokens.size() + 1)) - 1;
  };
  const std::size_t chosen = room_beside(result.rejected), rejected = room_beside(result.chosen);
  cut(result.chosen, chosen), cut(result.rejected, rejected);
  end_conversation(result.chosen, options_), end_conversation(result.rejected, options_);
  return result;
}

void PairDataset::read(Index sample, std::span<std::int64_t> tokens) const {
  const EncodedPair pair = encoded(sample);
  std::ranges::fill(tokens, options_.pad);
  std::ranges::copy(pair.chosen.tokens, tokens.begin());
  std::ranges::copy(pair.rejected.tokens,
                    tokens.begin() + static_cast<std::ptrdiff_t>(pair.chosen.tokens.size()));
}

void PairDataset::read_row(Index sample, const GptSampleOptions& /*options*/,
                           std::span<std::int64_t> /*text*/, const GptSample& row) const {
  const EncodedPair pair = encoded(sample);
  const std::size_t middle = pair.chosen.tokens.size(), end = middle + pair.rejected.tokens.size();
  write_segment(row, {0, middle}, pair.chosen, options_.pad);
  write_segment(row, {middle, end}, pair.rejected, options_.pad);
  write_padding(row, end, options_.pad);
  weigh(row.loss_mask.first(middle), by_length_, 1);
  weigh(row.loss_mask.subspan(middle, end - middle), by_length_, -1);
}

void PairDataset::add_shares(Index samples, std::vector<SourceShare>& shares) const {
  const Index pairs = options_.end - options_.begin;
  shares.push_back({.name = file_->path(),
                    .sequences = pairs,
                    .epochs = (size() + pairs - 1) / pairs,
                    .samples = size(),
                    .used = samples});
}

}  // namespace mpitron::data
