// Prepares labelled texts. Of a decoder each text's last token is read, so the batch carries its
// row and the way back.
#include "models/text_head/text_head_batch.h"

#include <algorithm>

#include "models/bert/bert_batch.h"
#include "tensor/host_copy.h"

namespace mpitron::models {
namespace {

using tensor::Tensor;

/// [b]: the rows of [s b] that hold the last tokens.
Tensor read_rows(device::Device& device, std::span<const std::int64_t> last_tokens) {
  const auto b = static_cast<Index>(last_tokens.size());
  const Tensor result = tensor::empty_on_host(device, {b}, DType::i64);
  for (Index row = 0; row < b; ++row) {
    result.data<std::int64_t>()[row] = last_tokens[static_cast<std::size_t>(row)] * b + row;
  }
  return tensor::prefetch(device, result);
}

/// [s b]: the inverse.
Tensor read_from(device::Device& device, std::span<const std::int64_t> last_tokens, Index s) {
  const auto b = static_cast<Index>(last_tokens.size());
  const Tensor result = tensor::empty_on_host(device, {s * b}, DType::i64);
  auto* to = result.data<std::int64_t>();
  std::fill_n(to, s * b, -1);
  for (Index row = 0; row < b; ++row) {
    to[last_tokens[static_cast<std::size_t>(row)] * b + row] = row;
  }
  return tensor::prefetch(device, result);
}

}  // namespace

std::span<const std::string_view> text_head_fields() {
  static constexpr std::string_view kFields[] = {
      kTokens.name,     kPositionIds.name,   kLabels.name,   kLossMask.name, kScores.name,
      kTokenTypes.name, kAttentionMask.name, kReadRows.name, kReadFrom.name};
  return kFields;
}

Batch text_head_batch(device::Device& device, const HostMicrobatch& microbatch,
                      const SequenceSlice& slice, const config::TextHead& head) {
  const ColumnUpload texts(device, microbatch, slice);
  HostMicrobatch labelled = microbatch;
  labelled.samples /= head.choices;
  const ColumnUpload samples(device, labelled, {});
  Batch batch{{kTokens, texts.sequences(kTokens)},
              {kPositionIds, texts.positions()},
              {kLabels, samples.whole(kLabels)},
              {kLossMask, samples.whole(kLossMask)},
              {kTokenTypes, texts.sequences(kTokenTypes)},
              {kAttentionMask, texts.hidden_keys(kPaddingMask)}};
  batch.loss_tokens = samples.sum_of_whole(kLossMask);
  if (head.score) {
    batch[kScores] = samples.whole(kScores).reshape({1, labelled.samples, 1});
  }
  if (const std::span<const std::int64_t> last = microbatch[kLastTokens]; !last.empty()) {
    batch[kReadRows] = read_rows(device, last);
    batch[kReadFrom] = read_from(device, last, slice.length);
  }
  return batch;
}

}  // namespace mpitron::models
