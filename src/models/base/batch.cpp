// Uploads the columns of a microbatch: transposed to sequences first, cut to what this rank reads,
// to the device's memory without waiting for it.
#include "models/base/batch.h"

#include <algorithm>

#include "tensor/host_copy.h"

namespace mpitron::models {

using tensor::Tensor;

namespace {

/// [s, b] of value(row, position in the row).
template <class T, class Value>
Tensor sequence_first(device::Device& device, const SequenceSlice& slice, Index samples,
                      const Value& value) {
  const Tensor result = tensor::empty_on_host(device, {slice.length, samples}, dtype_of<T>());
  T* to = result.data<T>();
  for (Index i = 0; i < slice.length; ++i) {
    for (Index row = 0; row < samples; ++row) {
      *to++ = value(row, slice.map(i));
    }
  }
  return tensor::prefetch(device, result);
}

}  // namespace

const Tensor& Batch::find(std::string_view name) const {
  static const Tensor absent;
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  return entry == entries_.end() ? absent : entry->tensor;
}

Tensor& Batch::at(std::string_view name) {
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  return entry == entries_.end() ? entries_.emplace_back(name, Tensor()).tensor : entry->tensor;
}

template <class T>
Tensor ColumnUpload::transposed(Field<T> field, const SequenceSlice& slice) const {
  const std::span<const T> values = microbatch_[field];
  if (values.empty()) {
    return {};
  }
  const Index width = static_cast<Index>(values.size()) / microbatch_.samples;
  return sequence_first<T>(device_, slice, microbatch_.samples, [&](Index row, Index position) {
    return values[static_cast<std::size_t>(row * width + position)];
  });
}

template <class T>
Tensor ColumnUpload::sequences(Field<T> field) const {
  return transposed(field, slice_);
}

template <class T>
Tensor ColumnUpload::whole(Field<T> field) const {
  return transposed(field, whole_rows(microbatch_[field].size()));
}

template <class T>
Tensor ColumnUpload::sequence_vectors(Field<T> field) const {
  const std::span<const T> values = microbatch_[field];
  if (values.empty()) {
    return {};
  }
  const Index b = microbatch_.samples, whole = microbatch_.sequence_length;
  const Index k = static_cast<Index>(values.size()) / (b * whole);
  const Tensor result = tensor::empty_on_host(device_, {slice_.length, b, k}, dtype_of<T>());
  T* to = result.data<T>();
  for (Index i = 0; i < slice_.length; ++i) {
    for (Index row = 0; row < b; ++row, to += k) {
      std::copy_n(values.data() + (row * whole + slice_.map(i)) * k, k, to);
    }
  }
  return tensor::prefetch(device_, result);
}

template Tensor ColumnUpload::sequence_vectors(Field<std::int64_t>) const;
template Tensor ColumnUpload::sequence_vectors(Field<float>) const;
template Tensor ColumnUpload::sequences(Field<std::int64_t>) const;
template Tensor ColumnUpload::sequences(Field<float>) const;
template Tensor ColumnUpload::whole(Field<std::int64_t>) const;
template Tensor ColumnUpload::whole(Field<float>) const;

Tensor ColumnUpload::positions(const SequenceSlice& slice) const {
  return sequence_first<std::int64_t>(device_, slice, microbatch_.samples,
                                      [](Index, Index position) { return position; });
}

Tensor ColumnUpload::hidden_keys(Field<std::int64_t> padding) const {
  const std::span<const std::int64_t> tokens = microbatch_[padding];
  if (tokens.empty()) {
    return {};
  }
  const Tensor result = tensor::empty_on_host(
      device_, {microbatch_.samples, 1, whole_rows(tokens.size()).length}, DType::u8);
  std::ranges::transform(tokens, result.data<std::uint8_t>(),
                         [](std::int64_t token) { return token == 0 ? 1 : 0; });
  return tensor::prefetch(device_, result);
}

Tensor ColumnUpload::mask_rows(Field<std::uint8_t> mask) const {
  const std::span<const std::uint8_t> rows = microbatch_[mask];
  if (rows.empty()) {
    return {};
  }
  const Index b = microbatch_.samples, s = slice_.length, columns = microbatch_.sequence_length;
  const Tensor result = tensor::empty_on_host(device_, {b, s, columns}, DType::u8);
  auto* to = result.data<std::uint8_t>();
  for (Index row = 0; row < b * s; ++row) {
    const Index from = row / s * columns + slice_.map(row % s);
    std::copy_n(rows.data() + from * columns, columns, to + row * columns);
  }
  return tensor::prefetch(device_, result);
}

Tensor ColumnUpload::document_starts(Field<std::uint8_t> mask) const {
  const std::span<const std::uint8_t> rows = microbatch_[mask];
  if (rows.empty()) {
    return {};
  }
  const Index s = microbatch_.sequence_length;
  const SequenceSlice whole{.map = {}, .length = s};
  return sequence_first<std::int32_t>(
      device_, whole, microbatch_.samples, [&](Index row, Index position) {
        const auto seen = rows.subspan(static_cast<std::size_t>((row * s + position) * s),
                                       static_cast<std::size_t>(s));
        return static_cast<std::int32_t>(std::ranges::find(seen, std::uint8_t{0}) - seen.begin());
      });
}

double ColumnUpload::sum(Field<float> field, const SequenceSlice& slice) const {
  const std::span<const float> values = microbatch_[field];
  const Index width = static_cast<Index>(values.size()) / microbatch_.samples;
  double result = 0;
  for (Index i = 0; width > 0 && i < slice.length; ++i) {
    for (Index row = 0; row < microbatch_.samples; ++row) {
      result += static_cast<double>(values[static_cast<std::size_t>(row * width + slice.map(i))]);
    }
  }
  return result;
}

}  // namespace mpitron::models
