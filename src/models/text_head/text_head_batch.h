#pragma once
#include "config/text_task.h"
#include "models/base/batch.h"

namespace mpitron::models {

// Of labelled texts, `choices` of which are a sample; labels and loss_mask are [b / choices]:
inline constexpr Field<float> kScores{"scores"};  // [b / choices]: numbers in place of classes
inline constexpr Field<std::int64_t> kLastTokens{
    "last_tokens"};  // [b], of a decoder: the positions that are read
// Of the batch alone, int64:
inline constexpr Field<std::int64_t> kReadRows{"read_rows"};
inline constexpr Field<std::int64_t> kReadFrom{"read_from"};

/// Lists what a head of texts reads of a batch: tokens and position_ids, [s, b], labels and
/// loss_mask, [1, b / choices], or scores, [1, b / choices, 1]; of an encoder token_types, [s, b],
/// and attention_mask, [b, 1, s]; of a decoder read_rows, [b], which of the rows of [s b] are read,
/// and read_from, [s b], which of these a row is, -1: none.
std::span<const std::string_view> text_head_fields();

Batch text_head_batch(device::Device& device, const HostMicrobatch& microbatch,
                      const SequenceSlice& slice, const config::TextHead& head);

}  // namespace mpitron::models
