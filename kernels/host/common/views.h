#pragma once
#include "device/tensor_view.h"
#include "kernels/elementwise/rows.h"
#include "kernels/host/common/parallel.h"
#include "kernels/host/common/simd.h"

namespace mpitron::kernels::host {

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
