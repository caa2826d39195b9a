#pragma once
#include "models/base/batch.h"

namespace mpitron::models {

// Of pairs of answers (--dpo), [b] on the host and [1, b] on the device: the weighted
// log-probabilities of the model that stays, and 1 for a pair, 0 for a sample that fills up.
inline constexpr Field<float> kReferenceMargins{"reference_margins"};
inline constexpr Field<float> kPairs{"pairs"};

// Of a teacher (--teacher-file): words and their log-probabilities, [b, s, k] on the host and
// [s, b, k] on the device.
inline constexpr Field<std::int64_t> kTeacherIds{"teacher_ids"};
inline constexpr Field<float> kTeacherLogProbs{"teacher_log_probs"};

/// Lists what a GPT reads of a batch, in the order in which ranks tell each other of it: tokens,
/// position_ids, labels, loss_mask, [s, b], attention_mask, [b, s, whole s], document_starts,
/// reference_margins, pairs, teacher_ids and teacher_log_probs.
std::span<const std::string_view> gpt_fields();

/// `slice`: the positions of every sequence that this rank has.
Batch gpt_batch(device::Device& device, const HostMicrobatch& microbatch,
                const SequenceSlice& slice);

}  // namespace mpitron::models
