#pragma once
#include "models/base/batch.h"

namespace mpitron::models {

// Of a T5's samples, beside the encoder's padded texts; d: the decoder's length. Labels and
// loss_mask are the decoder's, [b, d].
inline constexpr Field<std::int64_t> kDecoderTokens{"decoder_tokens"};  // [b, d]
inline constexpr Field<std::int64_t> kDecoderPaddingMask{
    "decoder_padding_mask"};  // [b, d], 1 = token
// Of the batch alone:
inline constexpr Field<std::int64_t> kDecoderPositionIds{"decoder_position_ids"};
inline constexpr Field<std::uint8_t> kDecoderAttentionMask{"decoder_attention_mask"};

/// Lists what a T5 reads of a batch: tokens and position_ids, [s, b], labels, loss_mask,
/// decoder_tokens and decoder_position_ids, [d, b], attention_mask, [b, 1, s],
/// decoder_attention_mask, [b, 1, d].
std::span<const std::string_view> t5_fields();

Batch t5_batch(device::Device& device, const HostMicrobatch& microbatch,
               const SequenceSlice& slice);

}  // namespace mpitron::models
