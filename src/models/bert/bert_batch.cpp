// Lists the columns of BERT's samples and puts its microbatches on the device.
#include "models/bert/bert_batch.h"

namespace mpitron::models {

std::span<const std::string_view> bert_fields() {
  static constexpr std::string_view kFields[] = {
      kTokens.name,        kPositionIds.name, kLabels.name,       kLossMask.name,
      kAttentionMask.name, kTokenTypes.name,  kSentenceOrder.name};
  return kFields;
}

Batch bert_batch(device::Device& device, const HostMicrobatch& microbatch,
                 const SequenceSlice& slice) {
  const ColumnUpload columns(device, microbatch, slice);
  Batch batch{{kTokens, columns.sequences(kTokens)},
              {kPositionIds, columns.positions()},
              {kLabels, columns.sequences(kLabels)},
              {kLossMask, columns.sequences(kLossMask)},
              {kAttentionMask, columns.hidden_keys(kPaddingMask)},
              {kTokenTypes, columns.sequences(kTokenTypes)},
              {kSentenceOrder, columns.whole(kSentenceOrder)}};
  batch.loss_tokens = columns.sum_of_sequences(kLossMask);
  return batch;
}

}  // namespace mpitron::models
