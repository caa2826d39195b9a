#include "train/microbatch.h"

#include <algorithm>

namespace mpitron::train {
namespace {

/// [b, whole s] -> [s, b].
template <class T>
tensor::Tensor transposed(device::Device& device, std::span<const T> rows,
                          const DeviceMicrobatch& shape) {
  const Index b = shape.samples, s = shape.sequence_length;
  tensor::Tensor result = tensor::Tensor::empty(device, {s, b}, dtype_of<T>());
  T* to = result.data<T>();
  for (Index row = 0; row < b; ++row) {
    for (Index i = 0; i < s; ++i) {
      to[i * b + row] =
          rows[static_cast<std::size_t>(row * shape.whole_length + shape.positions(i))];
    }
  }
  return result;
}

/// [b, whole s, whole s] -> [b, s, whole s].
tensor::Tensor mask_rows(device::Device& device, std::span<const std::uint8_t> mask,
                         const DeviceMicrobatch& shape) {
  const Index b = shape.samples, s = shape.sequence_length, columns = shape.whole_length;
  tensor::Tensor result = tensor::Tensor::empty(device, {b, s, columns}, DType::u8);
  auto* to = result.data<std::uint8_t>();
  for (Index row = 0; row < b * s; ++row) {
    const Index from = row / s * columns + shape.positions(row % s);
    std::copy_n(mask.data() + from * columns, columns, to + row * columns);
  }
  return result;
}

}  // namespace

DeviceMicrobatch upload(device::Device& device, const HostMicrobatch& microbatch,
                        const ContextPlace& place) {
  const Index whole = microbatch.sequence_length;
  const SequenceSlice slice = zigzag_slice(whole, place.ranks, place.rank);
  DeviceMicrobatch result{.samples = microbatch.samples,
                          .sequence_length = slice.length,
                          .whole_length = whole,
                          .positions = slice.map,
                          .first_sample = microbatch.first_sample};
  if (microbatch.tokens.empty()) {
    return result;
  }
  result.batch = {.tokens = transposed(device, microbatch.tokens, result),
                  .position_ids = transposed(device, microbatch.position_ids, result),
                  .labels = transposed(device, microbatch.labels, result),
                  .loss_mask = transposed(device, microbatch.loss_mask, result)};
  for (Index i = 0; i < result.batch.loss_mask.numel(); ++i) {
    result.batch.loss_tokens += static_cast<double>(result.batch.loss_mask.data<float>()[i]);
  }
  if (!microbatch.attention_mask.empty()) {
    result.batch.attention_mask = mask_rows(device, microbatch.attention_mask, result);
  }
  return result;
}

}  // namespace mpitron::train
