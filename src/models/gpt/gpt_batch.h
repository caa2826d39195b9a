#pragma once
#include "models/base/batch.h"

namespace mpitron::models {

/// What a GPT reads of a batch, in the order in which ranks tell each other of it: tokens,
/// position_ids, labels, loss_mask, [s, b], attention_mask, [b, s, whole s], and document_starts.
std::span<const std::string_view> gpt_fields();

/// `slice`: the positions of every sequence that this rank has.
Batch gpt_batch(device::Device& device, const HostMicrobatch& microbatch,
                const SequenceSlice& slice);

}  // namespace mpitron::models
