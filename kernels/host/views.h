#pragma once
#include <type_traits>

#include "device/tensor_view.h"
#include "kernels/host/parallel.h"
#include "kernels/host/simd.h"

namespace mpitron::kernels::host {

/// Row r of a view [..., h]: rows count over the leading dimensions, whose strides are free.
template <class T>
class Rows {
 public:
  template <class View>
  explicit Rows(const View& view) : data_(view.template as<std::remove_const_t<T>>()) {
    const int rank = view.shape.rank();
    MPITRON_CHECK(rank == 0 || view.size(-1) <= 1 || view.stride(-1) == 1, view.stride(-1));
    for (int dim = rank - 2; dim >= 0; --dim) {
      add_dimension(view.size(dim), view.stride(dim));
    }
  }
  explicit operator bool() const { return data_ != nullptr; }
  T* operator[](Index row) const {
    if (dims_ <= 1) [[likely]] {
      return data_ + row * stride_[0];
    }
    Index offset = 0;
    for (int dim = 0; dim < dims_ - 1; ++dim) {
      offset += row % extent_[dim] * stride_[dim];
      row /= extent_[dim];
    }
    return data_ + offset + row * stride_[dims_ - 1];
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

template <class View>
Index row_count(const View& view) {
  return view.size(-1) == 0 ? 0 : view.numel() / view.size(-1);
}

/// Calls f<A, B>() with the storage types of two training dtypes.
template <class F>
void visit_dtypes(DType a, DType b, F&& f) {
  visit_dtype(
      a, [&]<class A>() { visit_dtype(b, [&]<class B>() { f.template operator()<A, B>(); }); });
}

/// Outputs of this size and more go past the caches: with the inputs beside them, and what others
/// do in a shared cache, they would be evicted before they are read, and each line read before it
/// is written.
inline constexpr Index kStreamBytes = Index{4} << 20;
inline constexpr Index kStreamAlignment = 64;

struct PlainStore {
  template <class T, class Lanes>
  void operator()(T* p, simd::Float x, Lanes lanes) const {
    simd::store(p, x, lanes);
  }
};
struct StreamStore {
  template <class T>
  void operator()(T* p, simd::Float x, simd::Full) const {
    simd::stream(p, x);
  }
  template <class T>
  void operator()(T* p, simd::Float x, simd::Part lanes) const {
    simd::store(p, x, lanes);
  }
};

/// f(store) with the way to store; store(p, x, lanes).
template <class F>
inline void with_store(bool streaming, F&& f) {
  if (streaming) {
    f(StreamStore{});
    simd::stream_fence();
  } else {
    f(PlainStore{});
  }
}

/// Whether to stream into `y`: large, every row aligned, and not one of the inputs (whose lines are
/// in the cache already).
template <class T, class... Inputs>
bool should_stream(const device::TensorView& y, const Rows<T>& rows, const Inputs&... inputs) {
  return y.bytes() >= kStreamBytes && rows.aligned(kStreamAlignment) &&
         ((static_cast<const void*>(y.data) != inputs.data) && ...);
}

/// Elements that one iteration of a flat loop handles.
inline constexpr Index kTile = 4096;

/// body(store, row, begin, end) over tiles of at most kTile columns of `rows` x `columns`; `work`
/// units an element.
template <class F>
inline void for_tiles(Index rows, Index columns, Index work, bool streaming, F&& body) {
  const Index tiles = (columns + kTile - 1) / kTile;
  for_ranges(rows * tiles, rows * columns * work, [&](Index first, Index last) {
    with_store(streaming, [&](auto store) {
      for (Index tile = first; tile < last; ++tile) {
        const Index row = tiles == 1 ? tile : tile / tiles, begin = (tile - row * tiles) * kTile;
        body(store, row, begin, std::min(columns, begin + kTile));
      }
    });
  });
}

}  // namespace mpitron::kernels::host
