#pragma once
#include <cstdint>

#include "intrinsics.cuh"
#include "kernels/cuda/common/vector.cuh"

// Computes a block's tile of a matrix product on tensor cores: [kTile, kTile] sums over k in fp32
// of 16-bit factors, which come through shared memory in pieces of kTileDepth of k, kTileStages at
// a time. A factor lies in memory either with k along its rows or with its own extent (m or n)
// along them.

namespace mpitron::kernels::cuda {

inline constexpr int kTile = 128;      // rows and columns of c
inline constexpr int kTileDepth = 64;  // of k
inline constexpr int kTileStages = 3;
inline constexpr int kTileThreads = 256;
inline constexpr int kFactorElements = kTile * kTileDepth;
inline constexpr std::size_t kTileSharedBytes =
    2 * sizeof(std::uint16_t) * kTileStages * kFactorElements;

/// A factor of a product: its part for this tile begins at `data`; rows are aligned to 16 bytes.
struct Factor {
  const std::uint16_t* data;
  Index stride;  // between rows, in elements
  Index extent;  // rows or columns of c that are left from here on
};

/// Returns the place in shared memory of a chunk of eight elements of a row of `kColumns`. Chunks
/// change places by row, so that those of eight rows lie in different banks.
template <int kColumns>
__device__ std::uint16_t* shared_chunk(std::uint16_t* piece, int row, int chunk) {
  return piece + row * kColumns + (chunk ^ (row % 8)) * 8;
}

/// Begins to copy the piece of a factor at `depth` of k; what is beyond its end becomes 0.
template <bool kDepthInRows>
__device__ void copy_piece(std::uint16_t* piece, const Factor& factor, int depth, int k) {
  constexpr int kColumns = kDepthInRows ? kTileDepth : kTile;
  constexpr int kChunks = kColumns / 8;
  const Index first_row = kDepthInRows ? 0 : depth, first_column = kDepthInRows ? depth : 0;
  const Index rows = kDepthInRows ? factor.extent : k, columns = kDepthInRows ? k : factor.extent;
  for (int i = static_cast<int>(threadIdx.x); i < kFactorElements / 8; i += kTileThreads) {
    const Index row = first_row + i / kChunks, column = first_column + i % kChunks * 8;
    const Index left = row < rows ? min(max(columns - column, Index{0}), Index{8}) : 0;
    const std::uint16_t* from = left > 0 ? factor.data + row * factor.stride + column : factor.data;
    copy_async(shared_chunk<kColumns>(piece, i / kChunks, i % kChunks), from,
               static_cast<int>(left) * 2);
  }
}

/// Loads elements [extent, +16) x [depth, +16) of a piece into a warp's registers: words 0 and 2
/// hold the first eight of the extent, words 1 and 3 the last; words 2 and 3 the last eight of k.
template <bool kDepthInRows>
__device__ void load_fragment(std::uint32_t (&words)[4], std::uint16_t* piece, int extent,
                              int depth) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int matrix = lane / 8, row = lane % 8;
  const int e = extent + matrix % 2 * 8, d = depth + matrix / 2 * 8;
  if constexpr (kDepthInRows) {
    load_matrices(words, shared_chunk<kTileDepth>(piece, e + row, d / 8));
  } else {
    load_matrices_transposed(words, shared_chunk<kTile>(piece, d + row, e / 8));
  }
}

template <class T>
__device__ void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                             const std::uint32_t (&b)[2]) {
  if constexpr (std::is_same_v<T, __half>) {
    multiply_f16(c, a, b);
  } else {
    multiply_bf16(c, a, b);
  }
}

/// Sums of a warp: 64 rows and 32 columns of the tile as fragments of 16 x 8. Eight warps lie two
/// below each other and four side by side.
class TileSums {
 public:
  __device__ TileSums()
      : row_(static_cast<int>(threadIdx.x) / 128 * 64),
        column_(static_cast<int>(threadIdx.x) / 32 % 4 * 32) {}

  /// Adds the product of a piece of a and one of b.
  template <class T, bool kDepthInRowsA, bool kDepthInRowsB>
  __device__ void add(std::uint16_t* a, std::uint16_t* b) {
    for (int depth = 0; depth < kTileDepth; depth += 16) {
      std::uint32_t right[kAcross / 2][4];
#pragma unroll
      for (int j = 0; j < kAcross / 2; ++j) {
        load_fragment<kDepthInRowsB>(right[j], b, column_ + j * 16, depth);
      }
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
        std::uint32_t left[4];
        load_fragment<kDepthInRowsA>(left, a, row_ + i * 16, depth);
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
          const std::uint32_t column[2] = {right[j / 2][j % 2], right[j / 2][j % 2 + 2]};
          multiply_add<T>(sums_[i][j], left, column);
        }
      }
    }
  }

  /// Calls visit(row, column, sums) for two neighbouring sums of the tile at a time.
  template <class F>
  __device__ void for_pairs(F&& visit) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        const int row = row_ + i * 16 + lane / 4, column = column_ + j * 8 + lane % 4 * 2;
        visit(row, column, Floats<2>{{sums_[i][j][0], sums_[i][j][1]}});
        visit(row + 8, column, Floats<2>{{sums_[i][j][2], sums_[i][j][3]}});
      }
    }
  }

 private:
  static constexpr int kDown = 4, kAcross = 4;

  int row_, column_;
  float sums_[kDown][kAcross][4] = {};
};

/// Sums a tile over k, piece after piece: while one is multiplied, the next ones come.
template <class T, bool kDepthInRowsA, bool kDepthInRowsB>
__device__ TileSums multiply_tile(const Factor& a, const Factor& b, int k) {
  std::uint16_t* const shared = dynamic_shared<std::uint16_t>();
  const auto piece = [&](int step, int factor) {
    return shared + (step % kTileStages * 2 + factor) * kFactorElements;
  };
  const int steps = (k + kTileDepth - 1) / kTileDepth;
  const auto copy = [&](int step) {
    if (step < steps) {
      copy_piece<kDepthInRowsA>(piece(step, 0), a, step * kTileDepth, k);
      copy_piece<kDepthInRowsB>(piece(step, 1), b, step * kTileDepth, k);
    }
    copy_async_commit();
  };
  for (int step = 0; step < kTileStages - 1; ++step) {
    copy(step);
  }
  TileSums sums;
  for (int step = 0; step < steps; ++step) {
    copy_async_wait<kTileStages - 2>();
    __syncthreads();  // the piece is there for all, and nobody reads the one before it any more
    copy(step + kTileStages - 1);
    sums.add<T, kDepthInRowsA, kDepthInRowsB>(piece(step, 0), piece(step, 1));
  }
  return sums;
}

}  // namespace mpitron::kernels::cuda
