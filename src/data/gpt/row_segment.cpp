#include "data/gpt/row_segment.h"

#include <algorithm>
#include <vector>

// Conversations as parts of one row, which do not see each other.

namespace mpitron::data {
namespace {

void hide_other_segments(const GptSample& row, const RowSegment& segment) {
  const std::size_t s = row.tokens.size();
  for (std::size_t query = segment.begin; query < segment.end; ++query) {
    const auto hidden = row.attention_mask.subspan(query * s, s);
    std::ranges::fill(hidden, std::uint8_t{1});
    std::ranges::fill(hidden.subspan(segment.begin, query + 1 - segment.begin), std::uint8_t{0});
  }
}

}  // namespace

void write_segment(const GptSample& row, const RowSegment& segment,
                   const EncodedConversation& conversation, std::int64_t pad) {
  const std::size_t length = segment.end - segment.begin;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t at = segment.begin + i;
    const std::int64_t target =
        i + 1 < length ? conversation.targets[i + 1] : EncodedConversation::kNotLearned;
    const bool learned = target != EncodedConversation::kNotLearned && target != pad;
    row.tokens[at] = conversation.tokens[i];
    row.labels[at] = learned ? target : 0;
    row.loss_mask[at] = learned ? 1.0f : 0.0f;
    row.position_ids[at] = static_cast<std::int64_t>(i);
  }
  if (!row.attention_mask.empty()) {
    hide_other_segments(row, segment);
  }
}

void write_padding(const GptSample& row, std::size_t begin, std::int64_t pad) {
  const std::vector<std::int64_t> filler(row.tokens.size() - begin, pad);
  write_segment(row, {begin, row.tokens.size()}, {filler, filler}, pad);
}

}  // namespace mpitron::data
