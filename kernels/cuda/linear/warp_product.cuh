#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "intrinsics.cuh"

// Multiplies by a warp: c[16 R, 8 N] += a b, with c in registers, b in shared memory.
//
// Numerical contract
//   bf16, fp16: exact products, summed in fp32 by the matrix unit
//   fp32:       each factor is the sum of two tf32, which leaves an error of 2^-23; of the four
//               products of the parts all but the smallest (2^-22) are summed in fp32

namespace mpitron::kernels::cuda {

/// Columns of a that one instruction reduces: 32 bytes.
template <class T>
inline constexpr int kDepth = 32 / static_cast<int>(sizeof(T));

/// Sums of a warp: lane l holds columns l % 4 * 2 and the next of row l / 4, then of row l / 4 + 8,
/// of each 16 x 8.
template <int R, int N>
struct Accumulators {
  float tile[R][N][4];

  __device__ void clear() {
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          tile[r][n][e] = 0;
        }
      }
    }
  }
};

/// Calls f(r, n, e, row, column) for the elements that this lane holds.
template <int R, int N, class F>
__device__ __forceinline__ void for_elements(F&& f) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int r = 0; r < R; ++r) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        f(r, n, e, 16 * r + e / 2 * 8 + lane / 4, 8 * n + lane % 4 * 2 + e % 2);
      }
    }
  }
}

/// Operands of one instruction, in the layouts of intrinsics.cuh.
struct RowOperand {
  std::uint32_t words[4];
};
struct ColumnOperand {
  std::uint32_t words[2];
};

inline __device__ void multiply(float (&c)[4], const RowOperand& a, const ColumnOperand& b,
                                __nv_bfloat16) {
  multiply_bf16(c, a.words, b.words);
}
inline __device__ void multiply(float (&c)[4], const RowOperand& a, const ColumnOperand& b,
                                __half) {
  multiply_f16(c, a.words, b.words);
}

/// Splits x = high + low, both tf32.
template <int N>
struct SplitWords {
  std::uint32_t high[N], low[N];

  __device__ explicit SplitWords(const std::uint32_t (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      high[i] = round_to_tf32(__uint_as_float(x[i]));
      low[i] = round_to_tf32(__uint_as_float(x[i]) - __uint_as_float(high[i]));
    }
  }
};

inline __device__ void multiply(float (&c)[4], const RowOperand& a, const ColumnOperand& b, float) {
  const SplitWords x(a.words);
  const SplitWords y(b.words);
  multiply_tf32(c, x.low, y.high);
  multiply_tf32(c, x.high, y.low);
  multiply_tf32(c, x.high, y.high);
}

/// Rows of `kColumns` elements in shared memory, a multiple of 128 bytes, and aligned to that.
/// Chunk i (16 bytes) of row r lies at i ^ r % 8, so that eight rows of a matrix lie in different
/// banks.
template <class T, int kRows, int kColumns>
struct SharedTile {
  static constexpr int kElements = kRows * kColumns;
  static constexpr int kChunk = 16 / static_cast<int>(sizeof(T));  // elements of 16 bytes
  static constexpr int kChunks = kColumns / kChunk;
  static_assert(kChunks % 8 == 0);

  T* data;

  __device__ T* chunk(int row, int chunk) const {
    return data + row * kColumns + (chunk ^ row % 8) * kChunk;
  }
  /// Loads rows [row, + 16), columns [k kDepth, + kDepth): as rows of a.
  __device__ RowOperand rows(int row, int k) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    RowOperand a;
    load_matrices(a.words, step(chunk(row + lane % 16, lane / 16), 2 * k));
    return a;
  }
  /// Loads rows [row, + 16), columns [k kDepth, + kDepth): as 2 x 8 columns of b.
  __device__ void columns(ColumnOperand (&b)[2], int row, int k) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    std::uint32_t words[4];
    load_matrices(words, step(chunk(row + lane / 16 * 8 + lane % 8, lane / 8 % 2), 2 * k));
    b[0] = {{words[0], words[1]}};
    b[1] = {{words[2], words[3]}};
  }
  /// Loads rows [k kDepth, + kDepth), columns [column, + 16): as they are, for products with
  /// `operand_of` accumulators.
  __device__ void values(ColumnOperand (&b)[2], int k, int column) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    if constexpr (sizeof(T) == 2) {
      std::uint32_t words[4];
      load_matrices_transposed(words,
                               step(chunk(kDepth<T> * k + lane % 16, lane / 16), column / kChunk));
      b[0] = {{words[0], words[1]}};
      b[1] = {{words[2], words[3]}};
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = kDepth<T> * k + lane % 4 * 2 + i % 2, x = column + i / 2 * 8 + lane / 4;
        b[i / 2].words[i % 2] = __float_as_uint(chunk(row, x / kChunk)[x % kChunk]);
      }
    }
  }

 private:
  /// Steps from chunk 0 or 1 of a row to the one an even number further on: places for all of a
  /// row's matrices from one address, by constants.
  static const __device__ T* step(const T* place, int chunks) {
    const auto within =
        reinterpret_cast<std::uintptr_t>(place) ^ static_cast<std::uintptr_t>(chunks % 8 * 16);
    return reinterpret_cast<const T*>(within) + chunks / 8 * 8 * kChunk;
  }
};

inline __device__ std::uint32_t pack(float low, float high, __nv_bfloat16) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}
inline __device__ std::uint32_t pack(float low, float high, __half) {
  const __half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}

/// Makes columns [k kDepth, + kDepth) of accumulators rows of a, rounded to T. Of fp32 the columns
/// are permuted, as the rows of SharedTile::values are.
template <class T, int N>
__device__ RowOperand operand_of(const float (&tile)[N][4], int k) {
  if constexpr (sizeof(T) == 2) {
    const float(&x)[4] = tile[2 * k], (&y)[4] = tile[2 * k + 1];
    return {{pack(x[0], x[1], T()), pack(x[2], x[3], T()), pack(y[0], y[1], T()),
             pack(y[2], y[3], T())}};
  } else {
    const float(&x)[4] = tile[k];
    return {{__float_as_uint(x[0]), __float_as_uint(x[2]), __float_as_uint(x[1]),
             __float_as_uint(x[3])}};
  }
}

/// Adds c += a b^T, with rows [first, + 16 R) of a's tile.
template <int R, int N, class T, int kRows, int kColumns>
__device__ __forceinline__ void add_row_products(Accumulators<R, N>& c,
                                                 const SharedTile<T, kRows, kColumns>& a, int first,
                                                 const SharedTile<T, 8 * N, kColumns>& b) {
#pragma unroll
  for (int k = 0; k < kColumns / kDepth<T>; ++k) {
    RowOperand rows[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      rows[r] = a.rows(first + 16 * r, k);
    }
#pragma unroll
    for (int n = 0; n < N; n += 2) {
      ColumnOperand columns[2];
      b.columns(columns, 8 * n, k);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        multiply(c.tile[r][n], rows[r], columns[0], T());
        multiply(c.tile[r][n + 1], rows[r], columns[1], T());
      }
    }
  }
}

/// Accumulators as rows of a, rounded to T: half the registers where T has 16 bits.
template <class T, int R, int N>
struct RowOperands {
  static constexpr int kSteps = 8 * N / kDepth<T>;
  RowOperand steps[R][kSteps];

  __device__ __forceinline__ explicit RowOperands(const Accumulators<R, N>& x) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll
      for (int k = 0; k < kSteps; ++k) {
        steps[r][k] = operand_of<T>(x.tile[r], k);
      }
    }
  }
};

/// Adds c += p b, with 8 N columns of b from `first` on.
template <int R, int N, int K, class T, int kColumns>
__device__ __forceinline__ void add_value_products(Accumulators<R, N>& c,
                                                   const RowOperands<T, R, K>& p,
                                                   const SharedTile<T, 8 * K, kColumns>& b,
                                                   int first) {
#pragma unroll
  for (int k = 0; k < p.kSteps; ++k) {
#pragma unroll
    for (int n = 0; n < N; n += 2) {
      ColumnOperand columns[2];
      b.values(columns, k, first + 8 * n);
#pragma unroll
      for (int r = 0; r < R; ++r) {
        multiply(c.tile[r][n], p.steps[r][k], columns[0], T());
        multiply(c.tile[r][n + 1], p.steps[r][k], columns[1], T());
      }
    }
  }
}

}  // namespace mpitron::kernels::cuda
