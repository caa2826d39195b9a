#pragma once
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/linear/warp_product.cuh"

// Products by the threads of a block of small matrices in its shared memory, for what layers with a
// state compute of the positions of a chunk.
//
// Numerical contract
//   factors: fp32 is the sum of two tf32 (warp_product.cuh); bf16 and fp16 are tf32 as they are
//   sums:    fp32, by the matrix unit, in the order of the depth

namespace mpitron::kernels::cuda {

inline constexpr int kProductThreads = 256;
/// Neighbouring threads that share a row where a block has one for each of 64.
inline constexpr int kOfRow = kProductThreads / 64;
/// What rows and columns of matrices are filled up to whole numbers of.
inline constexpr int kWhole = 32;

constexpr int whole(Index n) {
  return static_cast<int>((n + kWhole - 1) / kWhole * kWhole);
}

/// A factor: element (i, j) at data[i row + j column].
template <class T>
struct Factor {
  const T* data;
  int row, column;

  __device__ Factor turned() const { return {data, column, row}; }
  __device__ std::uint32_t word(int i, int j) const {
    return __float_as_uint(static_cast<float>(data[i * row + j * column]));
  }
};

/// A matrix in shared memory, whose rows are filled up and lie so that eight of them are in
/// different banks.
template <class T>
struct Tile {
  T* data;
  int stride;

  static constexpr int stride_of(Index columns) {
    return whole(columns) + 16 / static_cast<int>(sizeof(T));
  }
  static constexpr Index elements_of(Index rows, Index columns) {
    return whole(rows) * Index{stride_of(columns)};
  }
  __device__ T& operator()(int i, int j) const { return data[i * stride + j]; }
  __device__ Factor<T> factor() const { return {data, stride, 1}; }
};

/// Hands out a block's shared memory; on the host it counts only.
class SharedRoom {
 public:
  constexpr explicit SharedRoom(std::byte* memory) : memory_(memory) {}

  template <class T>
  constexpr T* numbers(Index count) {
    constexpr Index kUnit = 16;
    std::byte* const place = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (count * static_cast<Index>(sizeof(T)) + kUnit - 1) / kUnit * kUnit;
    return reinterpret_cast<T*>(place);
  }
  template <class T>
  constexpr Tile<T> tile(Index rows, Index columns) {
    return {numbers<T>(Tile<T>::elements_of(rows, columns)), Tile<T>::stride_of(columns)};
  }
  constexpr std::size_t used() const { return static_cast<std::size_t>(used_); }

 private:
  std::byte* memory_;
  Index used_ = 0;
};

/// Rows of `columns` numbers in the GPU's memory, row(i) saying where row i < count begins.
template <class Row>
struct TileRows {
  int count, columns;
  bool packed;
  Row row;

  using Number = std::remove_cvref_t<decltype(*std::declval<const Row&>()(0))>;
};
template <class Row>
TileRows(int, int, bool, Row) -> TileRows<Row>;

/// Loads rows into a tile of at least `rows`; what fills it up is 0.
template <class T, class Row>
__device__ void load_tile(const Tile<T>& to, int rows, const TileRows<Row>& from) {
  using Number = typename TileRows<Row>::Number;
  const int packs = whole(from.columns) / kPack;
  for (int i = static_cast<int>(threadIdx.x); i < whole(rows) * packs; i += kProductThreads) {
    const int at = i / packs, column = i % packs * kPack;
    const bool there = at < from.count;
    const Number* const place = there ? from.row(at) + column : nullptr;
    const auto raw = load_some(place, there ? from.columns - column : 0, from.packed);
    store_raw(&to(at, column), rounded<T>(floats(raw)));
  }
}

/// Stores the first rows and columns of a tile.
template <class T, class Row>
__device__ void store_tile(const Tile<T>& from, const TileRows<Row>& to) {
  const int packs = whole(to.columns) / kPack;
  for (int i = static_cast<int>(threadIdx.x); i < to.count * packs; i += kProductThreads) {
    const int at = i / packs, column = i % packs * kPack;
    const Floats<kPack> x = load(&from(at, column), Width<kPack>());
    store_some(to.row(at) + column, to.columns - column, to.packed,
               rounded<typename TileRows<Row>::Number>(x));
  }
}

/// The dot product of rows threadIdx.x / kOfRow, for the threads that share them.
template <class A, class B>
__device__ float row_dot(const Tile<A>& x, const Tile<B>& y, int columns) {
  const int row = static_cast<int>(threadIdx.x) / kOfRow;
  float sum = 0;
  for (int j = static_cast<int>(threadIdx.x) % kOfRow; j < columns; j += kOfRow) {
    sum += static_cast<float>(x(row, j)) * static_cast<float>(y(row, j));
  }
  return warp_reduce(sum, Sum{}, kOfRow);
}

/// f(i, dot product of rows i), by one thread for each of 64 rows.
template <class A, class B, class F>
__device__ void for_row_dots(const Tile<A>& x, const Tile<B>& y, int columns, F&& f) {
  const float dot = row_dot(x, y, columns);
  if (threadIdx.x % kOfRow == 0) {
    f(static_cast<int>(threadIdx.x) / kOfRow, dot);
  }
}

/// The words of a factor as tf32, and what these leave of them.
template <class T, int N>
struct SplitWordsOf {
  std::uint32_t high[N], low[N];

  __device__ explicit SplitWordsOf(const std::uint32_t (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if constexpr (sizeof(T) == 2) {
        high[i] = x[i];
      } else {
        high[i] = round_to_tf32(__uint_as_float(x[i]));
        low[i] = round_to_tf32(__uint_as_float(x[i]) - __uint_as_float(high[i]));
      }
    }
  }
};

/// Sums of a warp: 16 rows and 32 columns of a product, from (row, column) on.
class TileSums {
 public:
  __device__ TileSums(int row, int column) : row_(row), column_(column) {}

  /// += a b.
  template <class A, class B>
  __device__ void add(int depth, const Factor<A>& a, const Factor<B>& b) {
    const int row = row_ + line(), column = column_ + line();
    for (int k = place(); k < depth; k += 8) {
      const SplitWordsOf<A, 4> x(
          {a.word(row, k), a.word(row + 8, k), a.word(row, k + 4), a.word(row + 8, k + 4)});
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        const SplitWordsOf<B, 2> y({b.word(k, column + 8 * n), b.word(k + 4, column + 8 * n)});
        if constexpr (sizeof(A) != 2) {
          multiply_tf32(sums_[n], x.low, y.high);
        }
        if constexpr (sizeof(B) != 2) {
          multiply_tf32(sums_[n], x.high, y.low);
        }
        multiply_tf32(sums_[n], x.high, y.high);
      }
    }
  }
  /// f(i, j, sum) of each that this lane holds.
  template <class F>
  __device__ void each_sum(F&& f) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        f(row_ + line() + e / 2 * 8, column_ + 8 * n + 2 * place() + e % 2, sums_[n][e]);
      }
    }
  }

  /// to[part, i] += the sum of f(i, j, sum) over the 32 columns of the part, which are here.
  template <class F>
  __device__ void add_rows(float* to, F&& f) {
    float rows[2] = {};
    int e = 0;
    each_sum([&](int i, int j, float sum) { rows[e++ % 4 / 2] += f(i, j, sum); });
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = warp_reduce(rows[half], Sum{}, 4);
      if (place() == 0) {
        to[column_ / kWhole * kRowsOfPart + row_ + line() + 8 * half] += sum;
      }
    }
  }

 private:
  static constexpr int kTiles = 4, kRowsOfPart = 64;

  __device__ static int line() {
    return static_cast<int>(threadIdx.x) % kWarp / 4;
  }
  __device__ static int place() {
    return static_cast<int>(threadIdx.x) % 4;
  }

  int row_, column_;
  float sums_[kTiles][4] = {};
};

/// f(sums) for the parts of a product of whole(rows) and whole(columns), each by a warp.
template <class F>
__device__ void for_tiles(Index rows, Index columns, F&& f) {
  const int across = whole(columns) / 32;
  for (int tile = static_cast<int>(threadIdx.x) / kWarp; tile < whole(rows) / 16 * across;
       tile += kProductThreads / kWarp) {
    TileSums sums(tile / across * 16, tile % across * 32);
    f(sums);
  }
}

}  // namespace mpitron::kernels::cuda
