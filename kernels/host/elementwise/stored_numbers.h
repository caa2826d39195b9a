#pragma once
#include <algorithm>

#include "kernels/elementwise/stored_numbers.h"
#include "kernels/host/common/parallel.h"
#include "kernels/host/common/simd.h"

namespace mpitron::kernels::host {

/// The numbers of one block of stored numbers, or fewer where the array ends.
struct alignas(64) BlockOfFloats {
  float v[StoredNumbers::kBlock];
};

/// Calls body(first, count) for every block of n stored numbers.
template <class F>
inline void for_stored_blocks(Index n, F&& body) {
  constexpr Index kWork = 8 * StoredNumbers::kBlock;
  for_blocks(StoredNumbers::blocks(n), StoredNumbers::blocks(n) * kWork, [&](Index block) {
    const Index first = block * StoredNumbers::kBlock;
    body(first, std::min(StoredNumbers::kBlock, n - first));
  });
}

/// Reads elements [first, first + count) of an array of fp32, bf16 or fp16 into a block.
inline void read_elements(const In& x, Index first, Index count, BlockOfFloats& block) {
  visit_dtype(x.dtype, [&]<class T>() {
    const T* p = x.as<T>() + first;
    simd::for_lanes(count, [&](Index i, auto lanes) {
      simd::store(block.v + i, simd::load(p + i, lanes), lanes);
    });
  });
}

/// Writes a block's elements back to such an array, rounded to nearest even.
inline void write_elements(const BlockOfFloats& block, Index first, Index count, const Out& y) {
  visit_dtype(y.dtype, [&]<class T>() {
    T* p = y.as<T>() + first;
    simd::for_lanes(count, [&](Index i, auto lanes) {
      simd::store(p + i, simd::load(block.v + i, lanes), lanes);
    });
  });
}

/// Read or write the block that begins at `first`, in any type of stored numbers.
void read_block(const StoredNumbers& x, Index first, Index count, BlockOfFloats& block);
void write_block(const BlockOfFloats& block, Index first, Index count, const StoredNumbers& y);

}  // namespace mpitron::kernels::host
