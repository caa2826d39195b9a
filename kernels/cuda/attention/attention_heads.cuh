#pragma once
#include "kernels/cuda/common/element.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/cuda/linear/warp_product.cuh"

// Where the heads of attention's tensors lie, and how blocks load and store rows of them.
namespace mpitron::kernels::cuda::attention {

/// Strides of [s, b, n, d], or [s, b, n / m, m, d], whose last dimension is contiguous.
struct HeadStrides {
  Index s, b, inner, stride_outer, stride_inner;  // m heads `stride_inner` apart

  template <class View>
  explicit HeadStrides(const View& view)
      : s(view.stride(0)),
        b(view.stride(1)),
        inner(view.shape.rank() == 5 ? view.size(3) : 1),
        stride_outer(view.stride(2)),
        stride_inner(view.shape.rank() == 5 ? view.stride(3) : 0) {
    MPITRON_CHECK(view.stride(-1) == 1 || view.size(-1) == 1, view.stride(-1));
  }
  __device__ Index offset(Index sample, Index head) const {
    const Index outer = quotient(head, inner);
    return sample * b + outer * stride_outer + (head - outer * inner) * stride_inner;
  }
  /// Whether every row of elements from `data` on is aligned to 16 bytes.
  template <class T>
  bool aligned(const T* data) const {
    constexpr Index kChunk = 16 / static_cast<Index>(sizeof(T));
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 &&
           (s % kChunk | b % kChunk | stride_outer % kChunk | stride_inner % kChunk) == 0;
  }
};

/// The rows of one head.
template <class T>
struct InputRows {
  const T* data;
  Index stride;
  int rows, columns;
  bool aligned;  // each row to 16 bytes

  /// Begins to fill a tile with the rows from `first` on, zeros around them: copies that end with
  /// copy_async_wait, or stores where rows are not aligned. All kThreads of the block call it.
  template <int kThreads, int kTileRows, int kColumns>
  __device__ __forceinline__ void load(const SharedTile<T, kTileRows, kColumns>& tile,
                                       int first) const {
    using Tile = SharedTile<T, kTileRows, kColumns>;
    static_assert(kTileRows * Tile::kChunks % kThreads == 0);
#pragma unroll 1
    for (int part = 0; part < kTileRows * Tile::kChunks / kThreads; ++part) {
      const int i = part * kThreads + static_cast<int>(threadIdx.x);
      const int row = i / Tile::kChunks, chunk = i % Tile::kChunks;
      load_chunk<Tile::kChunk>(tile.chunk(row, chunk), first + row, Tile::kChunk * chunk);
    }
  }

 private:
  /// Copies 16 bytes of a row to shared memory, asynchronously where the address is aligned; beyond
  /// the head and beyond the rows come zeros.
  template <int kChunk>
  __device__ void load_chunk(T* to, int row, int column) const {
    const int open = row < rows ? columns - column : 0;
    const int valid = max(0, min(open, kChunk));
    const T* from = valid > 0 ? data + row * stride + column : data;
    if (aligned) {
      copy_async(to, from, valid * static_cast<int>(sizeof(T)));
    } else {
      for (int i = 0; i < kChunk; ++i) {
        to[i] = i < valid ? from[i] : T(0.f);
      }
    }
  }
};

template <class T>
struct InputHeads {
  const T* data;
  HeadStrides strides;
  int rows, columns;
  bool aligned;

  explicit InputHeads(const device::ConstTensorView& view)
      : data(elements<T>(view)),
        strides(view),
        rows(static_cast<int>(view.size(0))),
        columns(static_cast<int>(view.size(-1))),
        aligned(strides.aligned(data)) {}
  __device__ InputRows<T> of(Index sample, Index head) const {
    return {data + strides.offset(sample, head), strides.s, rows, columns, aligned};
  }
};

/// Rows of one head of an output, in the type of the inputs or else in fp32.
template <class T>
struct OutputRows {
  T* own;
  float* wide;
  Index stride;
  int rows, columns;
  bool aligned;  // each row of `own` to 16 bytes

  /// Stores factor x for the accumulators of a warp, whose first column is `column`.
  template <int R, int N, class Factor>
  __device__ void store(const Accumulators<R, N>& x, int column, Factor&& factor) const {
    for_elements<R, N>([&](int r, int n, int e, int i, int j) {
      if (i < rows && column + j < columns) {
        const Index at = i * stride + column + j;
        const float value = x.tile[r][n][e] * factor(r, e / 2);
        if (wide != nullptr) {
          wide[at] = value;
        } else {
          own[at] = T(value);
        }
      }
    });
  }
  /// The same of a whole warp's first 16 rows, in chunks of 16 bytes by way of the rows from `row`
  /// on of a PanelTile, which nobody else needs any more.
  template <class Tile, int N, class Factor>
  __device__ __forceinline__ void store_by_way_of(const Tile& tile, int row,
                                                  const Accumulators<1, N>& x,
                                                  Factor&& factor) const {
    if (wide != nullptr) {
      store(x, 0, factor);
      return;
    }
    tile.put(row, x, factor);
    __syncwarp();
    for (int i = static_cast<int>(threadIdx.x % 32); i < 16 * N; i += 32) {
      const int from = i / N, chunk = i % N;
      if (from < rows) {
        store_some(own + from * stride + 8 * chunk, columns - 8 * chunk, aligned,
                   load_raw(tile.chunk(row + from, chunk), Width<8>()));
      }
    }
  }
};

template <class T>
struct OutputHeads {
  T* own;
  float* wide;
  HeadStrides strides;
  int rows, columns;
  bool aligned;

  explicit OutputHeads(const device::TensorView& view)
      : own(view.dtype == element_dtype<T>() ? elements<T>(view) : nullptr),
        wide(own == nullptr ? elements<float>(view) : nullptr),
        strides(view),
        rows(static_cast<int>(view.size(0))),
        columns(static_cast<int>(view.size(-1))),
        aligned(strides.aligned(own)) {}
  /// Those of a head from row `first` on.
  __device__ OutputRows<T> of(int sample, int head, int first) const {
    const Index at = strides.offset(sample, head) + first * strides.s;
    return {own != nullptr ? own + at : nullptr,
            wide != nullptr ? wide + at : nullptr,
            strides.s,
            rows - first,
            columns,
            aligned};
  }
};

}  // namespace mpitron::kernels::cuda::attention
