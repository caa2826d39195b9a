// Lists a GPT's columns and puts its microbatches on the device; pairs of answers have columns of
// their own.
#include "models/gpt/gpt_batch.h"

namespace mpitron::models {

std::span<const std::string_view> gpt_fields() {
  static constexpr std::string_view kFields[] = {
      kTokens.name,        kPositionIds.name,    kLabels.name,           kLossMask.name,
      kAttentionMask.name, kDocumentStarts.name, kReferenceMargins.name, kPairs.name,
      kTeacherIds.name,    kTeacherLogProbs.name};
  return kFields;
}

Batch gpt_batch(device::Device& device, const HostMicrobatch& microbatch,
                const SequenceSlice& slice) {
  const ColumnUpload columns(device, microbatch, slice);
  const bool counted = microbatch[kPositionIds].empty();
  Batch batch{{kTokens, columns.sequences(kTokens)},
              {kPositionIds, counted ? columns.positions() : columns.sequences(kPositionIds)},
              {kLabels, columns.sequences(kLabels)},
              {kLossMask, columns.sequences(kLossMask)},
              {kAttentionMask, columns.mask_rows(kAttentionMask)},
              {kDocumentStarts, columns.document_starts(kAttentionMask)},
              {kReferenceMargins, columns.whole(kReferenceMargins)},
              {kPairs, columns.whole(kPairs)},
              {kTeacherIds, columns.sequence_vectors(kTeacherIds)},
              {kTeacherLogProbs, columns.sequence_vectors(kTeacherLogProbs)}};
  batch.loss_tokens = microbatch[kPairs].empty() ? columns.sum_of_sequences(kLossMask)
                                                 : columns.sum_of_whole(kPairs);
  return batch;
}

}  // namespace mpitron::models
