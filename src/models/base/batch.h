#pragma once
#include "models/base/host_microbatch.h"
#include "tensor/tensor.h"
#include "utils/numbers/sequence_map.h"

namespace mpitron::models {

/// One microbatch on the device: the tensors that its family of models reads, by name. Sequences
/// come first: [s, b] of a column [b, s].
class Batch {
 public:
  struct Entry {
    std::string_view name;
    tensor::Tensor tensor;

    template <class T>
    Entry(Field<T> field, tensor::Tensor value) : name(field.name), tensor(std::move(value)) {}
    Entry(std::string_view field, tensor::Tensor value) : name(field), tensor(std::move(value)) {}
  };

  Batch() = default;
  Batch(std::initializer_list<Entry> entries) : entries_(entries) {}

  /// Absent (false) where the batch has none.
  template <class T>
  const tensor::Tensor& operator[](Field<T> field) const {
    return find(field.name);
  }
  template <class T>
  tensor::Tensor& operator[](Field<T> field) {
    return at(field.name);
  }
  const tensor::Tensor& find(std::string_view name) const;
  /// Adds it where it is absent.
  tensor::Tensor& at(std::string_view name);
  std::span<Entry> entries() { return entries_; }
  std::span<const Entry> entries() const { return entries_; }

  double loss_tokens = 0;  // sum of the loss mask, on this rank

 private:
  std::vector<Entry> entries_;
};

/// Takes columns of a microbatch to the device, sequences first.
class ColumnUpload {
 public:
  /// `slice`: the positions of every sequence that this rank has.
  ColumnUpload(device::Device& device, const HostMicrobatch& microbatch, const SequenceSlice& slice)
      : device_(device), microbatch_(microbatch), slice_(slice) {}

  /// [b, whole s] -> [s, b] of this rank's positions; absent where the column is.
  template <class T>
  tensor::Tensor sequences(Field<T> field) const;
  /// [b, whole s, k] -> [s, b, k] of this rank's positions; absent where the column is.
  template <class T>
  tensor::Tensor sequence_vectors(Field<T> field) const;
  /// [b, n] -> [n, b], whatever n is; absent where the column is.
  template <class T>
  tensor::Tensor whole(Field<T> field) const;
  /// [s, b], int64: the positions themselves.
  tensor::Tensor positions() const { return positions(slice_); }
  /// [n, b], int64: 0, 1, 2, ...
  tensor::Tensor positions(Index n) const { return positions({.map = {}, .length = n}); }
  /// [b, s], 1 = token -> [b, 1, s], u8, 1 = hidden; absent where the column is.
  tensor::Tensor hidden_keys(Field<std::int64_t> padding) const;
  /// [b, whole s, whole s] -> [b, s, whole s]; absent where the column is.
  tensor::Tensor mask_rows(Field<std::uint8_t> mask) const;
  /// Turns a mask into [whole s, b], i32: the first position that each one sees, which is where its
  /// document begins.
  tensor::Tensor document_starts(Field<std::uint8_t> mask) const;
  /// Sums what `sequences` and `whole` take; double, in the order of their results.
  double sum_of_sequences(Field<float> field) const { return sum(field, slice_); }
  double sum_of_whole(Field<float> field) const {
    return sum(field, whole_rows(microbatch_[field].size()));
  }

 private:
  /// Returns the slice of a column of so many numbers.
  SequenceSlice whole_rows(std::size_t numbers) const {
    return {.map = {}, .length = static_cast<Index>(numbers) / microbatch_.samples};
  }
  template <class T>
  tensor::Tensor transposed(Field<T> field, const SequenceSlice& slice) const;
  tensor::Tensor positions(const SequenceSlice& slice) const;
  double sum(Field<float> field, const SequenceSlice& slice) const;

  device::Device& device_;
  const HostMicrobatch& microbatch_;
  SequenceSlice slice_;
};

}  // namespace mpitron::models
