// Lists the columns of T5's samples and puts its microbatches on the device, encoder and decoder
// apart.
#include "models/t5/t5_batch.h"

namespace mpitron::models {

std::span<const std::string_view> t5_fields() {
  static constexpr std::string_view kFields[] = {kTokens.name,
                                                 kPositionIds.name,
                                                 kLabels.name,
                                                 kLossMask.name,
                                                 kAttentionMask.name,
                                                 kDecoderTokens.name,
                                                 kDecoderPositionIds.name,
                                                 kDecoderAttentionMask.name};
  return kFields;
}

Batch t5_batch(device::Device& device, const HostMicrobatch& microbatch,
               const SequenceSlice& slice) {
  const ColumnUpload columns(device, microbatch, slice);
  const auto d = static_cast<Index>(microbatch[kDecoderTokens].size()) / microbatch.samples;
  Batch batch{{kTokens, columns.sequences(kTokens)},
              {kPositionIds, columns.positions()},
              {kLabels, columns.whole(kLabels)},
              {kLossMask, columns.whole(kLossMask)},
              {kAttentionMask, columns.hidden_keys(kPaddingMask)},
              {kDecoderTokens, columns.whole(kDecoderTokens)},
              {kDecoderPositionIds, columns.positions(d)},
              {kDecoderAttentionMask, columns.hidden_keys(kDecoderPaddingMask)}};
  batch.loss_tokens = columns.sum_of_whole(kLossMask);
  return batch;
}

}  // namespace mpitron::models
