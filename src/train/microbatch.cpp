#include "train/microbatch.h"

#include <algorithm>

namespace mpitron::train {
namespace {

/// [b, s] -> [s, b].
template <class T>
tensor::Tensor transposed(device::Device& device, std::span<const T> rows, Index b, Index s) {
  tensor::Tensor result = tensor::Tensor::empty(device, {s, b}, dtype_of<T>());
  T* to = result.data<T>();
  for (Index row = 0; row < b; ++row) {
    for (Index i = 0; i < s; ++i) {
      to[i * b + row] = rows[static_cast<std::size_t>(row * s + i)];
    }
  }
  return result;
}

}  // namespace

DeviceMicrobatch upload(device::Device& device, const HostMicrobatch& microbatch) {
  const Index b = microbatch.samples, s = microbatch.sequence_length;
  if (microbatch.tokens.empty()) {
    return {.samples = b, .sequence_length = s, .first_sample = microbatch.first_sample};
  }
  DeviceMicrobatch result{
      .samples = b,
      .sequence_length = s,
      .batch = {.tokens = transposed(device, microbatch.tokens, b, s),
                .position_ids = transposed(device, microbatch.position_ids, b, s),
                .labels = transposed(device, microbatch.labels, b, s),
                .attention_mask = {}},
      .loss_mask = transposed(device, microbatch.loss_mask, b, s),
      .loss_tokens = 0,
      .first_sample = microbatch.first_sample};
  for (const float weight : microbatch.loss_mask) {
    result.loss_tokens += static_cast<double>(weight);
  }
  if (!microbatch.attention_mask.empty()) {
    result.batch.attention_mask = tensor::Tensor::empty(device, {b, s, s}, DType::u8);
    std::ranges::copy(microbatch.attention_mask, result.batch.attention_mask.data<std::uint8_t>());
  }
  return result;
}

}  // namespace mpitron::train
