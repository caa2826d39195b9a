#pragma once
#include "kernels/cuda/linear/warp_product.cuh"
#include "warpgroup.cuh"
#include "wgmma.cuh"

// Products of a warpgroup: c[64, 8 N] += a b, with c in registers as Accumulators<1, N> (each warp
// has 16 rows), b in shared memory, a there too or in registers. They begin here; wgmma_fence comes
// before, wgmma_commit and wgmma_wait after.
//
// Numerical contract: exact products of bf16 or fp16, summed in fp32 by the matrix unit.

namespace mpitron::kernels::cuda {

/// The operand of a product in shared memory, of 16-bit elements in rows of 128 bytes: eight rows
/// make an atom of 1024 bytes, aligned to that, in which chunk i of 16 bytes of row r lies at
/// i ^ r % 8. Groups of eight rows are `stride` bytes apart, panels of 64 columns `leading` bytes.
/// The operand begins `offset` bytes behind the matrix: 16 columns further on within an atom, 32.
/// Source: PTX ISA, wgmma: matrix descriptor format.
inline __device__ std::uint64_t matrix_descriptor(const void* shared, int offset, int leading,
                                                  int stride) {
  constexpr std::uint32_t kSwizzle128Bytes = std::uint32_t{1} << 30;
  const auto units = [](int bytes) { return static_cast<std::uint32_t>(bytes >> 4); };
  // In words: only the lower one differs from product to product.
  const std::uint32_t matrix = units(leading) << 16 | (shared_address(shared) & 0x3ffff) >> 4;
  const std::uint32_t lower = matrix + units(offset), upper = kSwizzle128Bytes | units(stride);
  return std::uint64_t{upper} << 32 | lower;
}

/// Holds kRows of kColumns elements of 16 bits, as panels of 64 columns: the form of
/// matrix_descriptor, and that of boxes of 64 columns which the copy engine writes.
template <class T, int kRows, int kColumns>
struct PanelTile {
  static constexpr int kPanelColumns = 64, kPanels = kColumns / kPanelColumns;
  static constexpr int kElements = kRows * kColumns;
  static constexpr int kBytes = 2 * kElements, kPanelBytes = kBytes / kPanels;
  static_assert(sizeof(T) == 2 && kColumns % kPanelColumns == 0 && kRows % 8 == 0);

  T* data;

  __device__ T* panel(int index) const { return data + index * kRows * kPanelColumns; }
  /// Returns the place of the 16 bytes number `chunk` of a row.
  __device__ T* chunk(int row, int chunk) const {
    return panel(chunk / 8) + row * kPanelColumns + (chunk % 8 ^ row % 8) * 8;
  }
  /// Puts factor(0, half) x of a warp to the 16 rows from `row` on, rounded to T.
  template <int N, class Factor>
  __device__ __forceinline__ void put(int row, const Accumulators<1, N>& x, Factor&& factor) const {
    static_assert(8 * N <= kColumns);
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float scale = factor(0, half);
#pragma unroll
      for (int n = 0; n < N; ++n) {
        T* const pair = chunk(row + 8 * half + lane / 4, n) + lane % 4 * 2;
        *reinterpret_cast<std::uint32_t*>(pair) =
            pack(x.tile[0][n][2 * half] * scale, x.tile[0][n][2 * half + 1] * scale, T());
      }
    }
  }
  /// Describes columns [16 k, + 16) of the rows from `row`, a multiple of 8, on: the columns are
  /// the depth.
  __device__ std::uint64_t rows(int row, int k) const {
    return matrix_descriptor(data, k / 4 * kPanelBytes + row * kRowBytes + k % 4 * 32, 0, kAtom);
  }
  /// Describes all columns of the rows [16 k, + 16), which are the depth.
  __device__ std::uint64_t values(int k) const {
    return matrix_descriptor(data, 16 * k * kRowBytes, kPanelBytes, kAtom);
  }

 private:
  static constexpr int kRowBytes = 128, kAtom = 8 * kRowBytes;
};

/// Begins c = a b^T: rows [first, + 64) of a, all rows of b.
template <int N, class T, int kRows, int kColumns>
__device__ __forceinline__ void begin_row_products(Accumulators<1, N>& c,
                                                   const PanelTile<T, kRows, kColumns>& a,
                                                   int first,
                                                   const PanelTile<T, 8 * N, kColumns>& b) {
#pragma unroll
  for (int k = 0; k < kColumns / 16; ++k) {
    wgmma(c.tile[0], a.rows(first, k), b.rows(0, k), k > 0, T());
  }
}

/// Begins c += p b.
template <int N, int K, class T>
__device__ __forceinline__ void begin_value_products(Accumulators<1, N>& c,
                                                     const RowOperands<T, 1, K>& p,
                                                     const PanelTile<T, 8 * K, 8 * N>& b) {
#pragma unroll
  for (int k = 0; k < p.kSteps; ++k) {
    wgmma_transposed(c.tile[0], p.steps[0][k].words, b.values(k), true, T());
  }
}

}  // namespace mpitron::kernels::cuda
