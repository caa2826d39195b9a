#include "train/batches/microbatch.h"

#include <algorithm>

#include "tensor/host_copy.h"
#include "train/batches/merged_images.h"
#include "train/batches/patches.h"

namespace mpitron::train {
namespace {

/// Rows of samples, and the positions that this rank has of each.
struct Rows {
  Index samples = 0;           // b
  Index length = 0;            // s, of this rank
  Index whole_length = 0;      // of a row
  SequenceMap positions = {};  // of the s
};

/// Calls visit(row, position in the row) in the order of [s, b].
template <class Visit>
void for_each_element(const Rows& rows, const Visit& visit) {
  for (Index i = 0; i < rows.length; ++i) {
    for (Index row = 0; row < rows.samples; ++row) {
      visit(row, rows.positions(i));
    }
  }
}

/// Of [b, whole s].
template <class T>
T element(std::span<const T> values, const Rows& rows, Index row, Index position) {
  return values[static_cast<std::size_t>(row * rows.whole_length + position)];
}

/// [s, b] of value(row, position in the row).
template <class T, class Value>
tensor::Tensor sequence_first(device::Device& device, const Rows& rows, const Value& value) {
  const tensor::Tensor result =
      tensor::empty_on_host(device, {rows.length, rows.samples}, dtype_of<T>());
  T* to = result.data<T>();
  for_each_element(rows, [&](Index row, Index position) { *to++ = value(row, position); });
  return tensor::prefetch(device, result);
}

/// [b, whole s] -> [s, b].
template <class T>
tensor::Tensor transposed(device::Device& device, std::span<const T> values, const Rows& rows) {
  return sequence_first<T>(device, rows, [&](Index row, Index position) {
    return element(values, rows, row, position);
  });
}

/// [s, b] of the positions themselves.
tensor::Tensor counted_positions(device::Device& device, const Rows& rows) {
  return sequence_first<std::int64_t>(device, rows, [](Index, Index position) { return position; });
}

/// [b, s], 1 = token -> [b, 1, s], 1 = hidden.
tensor::Tensor hidden_keys(device::Device& device, std::span<const std::int64_t> padding_mask,
                           Index samples) {
  const auto length = static_cast<Index>(padding_mask.size()) / samples;
  const tensor::Tensor result = tensor::empty_on_host(device, {samples, 1, length}, DType::u8);
  std::ranges::transform(padding_mask, result.data<std::uint8_t>(),
                         [](std::int64_t token) { return token == 0 ? 1 : 0; });
  return tensor::prefetch(device, result);
}

/// [b, whole s, whole s] -> [b, s, whole s].
tensor::Tensor mask_rows(device::Device& device, std::span<const std::uint8_t> mask,
                         const DeviceMicrobatch& shape) {
  const Index b = shape.samples, s = shape.sequence_length, columns = shape.whole_length;
  const tensor::Tensor result = tensor::empty_on_host(device, {b, s, columns}, DType::u8);
  auto* to = result.data<std::uint8_t>();
  for (Index row = 0; row < b * s; ++row) {
    const Index from = row / s * columns + shape.positions(row % s);
    std::copy_n(mask.data() + from * columns, columns, to + row * columns);
  }
  return tensor::prefetch(device, result);
}

/// [b, whole s, whole s] -> [whole s, b]: the first position that each one sees, which is where its
/// document begins.
tensor::Tensor document_starts(device::Device& device, std::span<const std::uint8_t> mask,
                               const DeviceMicrobatch& shape) {
  const Index s = shape.whole_length;
  const Rows rows{shape.samples, s, s};
  return sequence_first<std::int32_t>(device, rows, [&](Index row, Index position) {
    const auto seen = mask.subspan(static_cast<std::size_t>((row * s + position) * s),
                                   static_cast<std::size_t>(s));
    return static_cast<std::int32_t>(std::ranges::find(seen, std::uint8_t{0}) - seen.begin());
  });
}

/// Of the decoder's sequences.
Rows decoder_rows(const HostMicrobatch& microbatch) {
  const Index d = static_cast<Index>(microbatch.decoder_tokens.size()) / microbatch.samples;
  return {microbatch.samples, d, d};
}

/// What only BERT and T5 have.
void upload_padded_parts(device::Device& device, const HostMicrobatch& microbatch, const Rows& rows,
                         models::Batch& batch) {
  if (!microbatch.padding_mask.empty()) {
    batch.attention_mask = hidden_keys(device, microbatch.padding_mask, rows.samples);
  }
  if (!microbatch.token_types.empty()) {
    batch.token_types = transposed(device, microbatch.token_types, rows);
  }
  if (!microbatch.sentence_order.empty()) {
    batch.sentence_order = transposed(device, microbatch.sentence_order, {rows.samples, 1, 1});
  }
  if (!microbatch.decoder_tokens.empty()) {
    const Rows own = decoder_rows(microbatch);
    batch.decoder_tokens = transposed(device, microbatch.decoder_tokens, own);
    batch.decoder_position_ids = counted_positions(device, own);
    batch.decoder_attention_mask =
        hidden_keys(device, microbatch.decoder_padding_mask, rows.samples);
  }
}

}  // namespace

MicrobatchParts microbatch_parts(const config::RunConfig& config) {
  const config::ModelConfig& model = config.model;
  const bool bert = model.kind == config::ModelKind::bert;
  return {
      .attention_mask = config.data.has_attention_masks(),
      .padding = model.kind == config::ModelKind::bert || model.kind == config::ModelKind::t5,
      .token_types = bert,
      .sentence_order = bert && model.bert_binary_head,
      .decoder_length = model.decoder_seq_length,
      .images = model.kind == config::ModelKind::vit ? std::optional(model.vision) : std::nullopt,
      .vlm = model.vlm};
}

DeviceMicrobatch upload(device::Device& device, const HostMicrobatch& microbatch,
                        const ContextPlace& place) {
  const Index whole = microbatch.sequence_length;
  const SequenceSlice slice = zigzag_slice(whole, place.ranks, place.rank);
  DeviceMicrobatch result{.samples = microbatch.samples,
                          .sequence_length = slice.length,
                          .whole_length = whole,
                          .positions = slice.map,
                          .first_sample = microbatch.first_sample};
  if (microbatch.vision != nullptr || microbatch.vlm != nullptr) {
    result.batch = microbatch.vlm != nullptr ? upload_merged(device, microbatch)
                                             : upload_images(device, microbatch);
    return result;
  }
  if (microbatch.tokens.empty()) {
    return result;
  }
  const Rows rows{microbatch.samples, slice.length, whole, slice.map};
  const Rows own = microbatch.decoder_tokens.empty() ? rows : decoder_rows(microbatch);
  models::Batch& batch = result.batch;
  batch = {.tokens = transposed(device, microbatch.tokens, rows),
           .position_ids = microbatch.position_ids.empty()
                               ? counted_positions(device, rows)
                               : transposed(device, microbatch.position_ids, rows),
           .labels = transposed(device, microbatch.labels, own),
           .loss_mask = transposed(device, microbatch.loss_mask, own)};
  for_each_element(own, [&](Index row, Index position) {
    batch.loss_tokens += static_cast<double>(element(microbatch.loss_mask, own, row, position));
  });
  upload_padded_parts(device, microbatch, rows, batch);
  if (!microbatch.attention_mask.empty()) {
    batch.attention_mask = mask_rows(device, microbatch.attention_mask, result);
    batch.document_starts = document_starts(device, microbatch.attention_mask, result);
  }
  return result;
}

}  // namespace mpitron::train
