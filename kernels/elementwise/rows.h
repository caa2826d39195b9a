#pragma once
#include <cstdint>
#include <type_traits>

#include "device/tensor_view.h"

namespace mpitron::kernels {

/// The number of rows of [..., h]: the product of the leading dimensions.
template <class View>
Index row_count(const View& view) {
  return view.size(-1) == 0 ? 0 : view.numel() / view.size(-1);
}

/// Row r of a view [..., h]: rows count over the leading dimensions, whose strides are free. What
/// is constexpr also runs on GPUs.
template <class T>
class Rows {
 public:
  template <class View>
  explicit Rows(const View& view) : Rows(view.template as<std::remove_const_t<T>>(), view) {}
  /// T is the GPU's name of the view's type.
  template <class View>
  Rows(T* data, const View& view) : data_(data) {
    const int rank = view.shape.rank();
    MPITRON_CHECK(rank == 0 || view.size(-1) <= 1 || view.stride(-1) == 1, view.stride(-1));
    for (int dim = rank - 2; dim >= 0; --dim) {
      add_dimension(view.size(dim), view.stride(dim));
    }
    MPITRON_CHECK(dims_ <= 1 || row_count(view) <= UINT32_MAX, to_string(view.shape));
  }
  constexpr explicit operator bool() const { return data_ != nullptr; }
  constexpr T* operator[](Index row) const {
    if (dims_ <= 1) [[likely]] {
      return data_ + row * stride_[0];
    }
    // In 32 bits: to divide 64 takes a GPU a hundred instructions, and registers of every kernel.
    auto rest = static_cast<std::uint32_t>(row);
    Index offset = 0;
    for (int dim = 0; dim < dims_ - 1; ++dim) {
      const auto extent = static_cast<std::uint32_t>(extent_[dim]);
      offset += static_cast<Index>(rest % extent) * stride_[dim];
      rest /= extent;
    }
    return data_ + offset + static_cast<Index>(rest) * stride_[dims_ - 1];
  }
  /// Whether every row starts at a multiple of `bytes`.
  bool aligned(Index bytes) const {
    bool result = reinterpret_cast<std::uintptr_t>(data_) % static_cast<std::uintptr_t>(bytes) == 0;
    for (int dim = 0; dim < dims_; ++dim) {
      result &= stride_[dim] * static_cast<Index>(sizeof(T)) % bytes == 0;
    }
    return result;
  }

 private:
  /// The next slower dimension; joined to the last one where the two are one.
  void add_dimension(Index extent, Index stride) {
    if (extent == 1) {
      return;
    }
    if (dims_ > 0 && stride == stride_[dims_ - 1] * extent_[dims_ - 1]) {
      extent_[dims_ - 1] *= extent;
      return;
    }
    extent_[dims_] = extent;
    stride_[dims_++] = stride;
  }

  T* data_;
  int dims_ = 0;  // fastest first
  Index extent_[Shape::kMaxRank] = {};
  Index stride_[Shape::kMaxRank] = {};
};

}  // namespace mpitron::kernels
