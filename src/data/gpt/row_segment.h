#pragma once
#include "data/gpt/conversation_file.h"
#include "data/gpt/gpt_sample.h"

namespace mpitron::data {

/// Positions [begin, end) of a row.
struct RowSegment {
  std::size_t begin = 0, end = 0;
};

/// Writes a conversation into a part of a row, which sees nothing else and whose positions begin at
/// 0: labels and loss mask where its targets are learned and no padding. In an attention mask the
/// queries of this segment are written.
void write_segment(const GptSample& row, const RowSegment& segment,
                   const EncodedConversation& conversation, std::int64_t pad);

/// Fills the rest of a row with padding that sees itself alone, without loss.
void write_padding(const GptSample& row, std::size_t begin, std::int64_t pad);

}  // namespace mpitron::data
