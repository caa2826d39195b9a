#pragma once
#include "models/base/batch.h"

namespace mpitron::models {

// Of a BERT's samples, beside padded texts:
inline constexpr Field<std::int64_t> kTokenTypes{"token_types"};  // [b, s]: 0 or 1, of which part
inline constexpr Field<std::int64_t> kSentenceOrder{
    "sentence_order"};  // [b]: 1 where the second part stands first

/// What a BERT reads of a batch: tokens, position_ids, labels, loss_mask and token_types, [s, b],
/// attention_mask, [b, 1, s], and, with the binary head, sentence_order, [1, b].
std::span<const std::string_view> bert_fields();

Batch bert_batch(device::Device& device, const HostMicrobatch& microbatch,
                 const SequenceSlice& slice);

}  // namespace mpitron::models
