#pragma once
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/norm.h"

// Keeps rows of norms in the registers of the threads that share them.
namespace mpitron::kernels::cuda::norm {

inline constexpr int kPacks = 4;  // of a row in the registers of a thread
inline constexpr unsigned kMostThreads = 512;
inline constexpr Index kColumnsOfThread = Index{kPacks} * kPack;
inline constexpr Index kProcessors = 132;  // multiprocessors of an H100 or H200

/// Says which columns of rows of h are a thread's: a row is cut into chunks, in each of which a
/// thread has kPacks packs, blockDim.x packs apart.
struct Columns {
  Index h;
  bool packed;

  /// Calls body(begin) for the chunks.
  template <class F>
  __device__ void for_chunks(F&& body) const {
    for (Index begin = 0; begin < h; begin += Index{blockDim.x} * kColumnsOfThread) {
      body(begin);
    }
  }
  __device__ Index column(Index begin, int pack) const {
    return begin + (static_cast<Index>(pack) * blockDim.x + threadIdx.x) * kPack;
  }
  /// Calls body(pack, column, columns left) for the packs of the chunk in which there are columns.
  template <class F>
  __device__ void for_packs(Index begin, F&& body) const {
#pragma unroll  // packs stay in registers
    for (int pack = 0; pack < kPacks; ++pack) {
      const Index i = column(begin, pack);
      if (i < h) {
        body(pack, i, h - i);
      }
    }
  }
};

/// Holds a thread's part of a row.
template <class T>
struct RowPart {
  Raw<T, kPack> packs[kPacks];
  Index begin = -1;  // of the chunk

  /// Loads a chunk, and does nothing where it is held already: rows of one chunk are read once for
  /// both passes.
  __device__ void load(const T* row, const Columns& columns, Index wanted) {
    if (begin == wanted) {
      return;
    }
    begin = wanted;
#pragma unroll  // packs stay in registers
    for (int pack = 0; pack < kPacks; ++pack) {
      const Index i = columns.column(begin, pack);
      packs[pack] = load_some(row + i, columns.h - i, columns.packed);
    }
  }
  __device__ float operator()(int pack, int j) const {
    return static_cast<float>(packs[pack].v[j]);
  }
};

/// Whether a row of numbers of 2 bytes is whole packs, of which each of `threads` has one or none.
/// In fp32 a pack is two accesses, and threads with several packs are faster (H200).
template <class X>
bool is_narrow(const Columns& columns, unsigned threads) {
  return sizeof(X) == 2 && columns.packed && columns.h % kPack == 0 &&
         columns.h <= Index{threads} * kPack;
}

/// Sums each of N values over the threads of a row, with one barrier: so `partial`, of
/// N * kMostWarps, must not serve two calls in a row.
template <int N>
__device__ Floats<N> row_sums(Floats<N> values, float* partial) {
  for (float& value : values.v) {
    value = warp_reduce(value, Sum{});
  }
  const unsigned warps = blockDim.x / kWarp;
  if (warps == 1) {
    return values;
  }
  partial += threadIdx.y * warps * N;
  if (threadIdx.x % kWarp == 0) {
    for (int i = 0; i < N; ++i) {
      partial[threadIdx.x / kWarp * N + i] = values[i];
    }
  }
  __syncthreads();
  Floats<N> total{};
  for (unsigned warp = 0; warp < warps; ++warp) {
    for (int i = 0; i < N; ++i) {
      total[i] += partial[warp * N + i];
    }
  }
  return total;
}

/// gamma or beta: fp32 or of type T, or `otherwise` where there is none.
template <class T>
struct Weights {
  const void* data;
  bool wide;  // fp32
  float offset, otherwise;

  Weights(const In& view, float offset_, float otherwise_)
      : data(view.data), wide(view.dtype == DType::f32), offset(offset_), otherwise(otherwise_) {
    MPITRON_CHECK(!view || wide || view.dtype == element_dtype<T>(), name_of(view.dtype));
  }
  bool fits_packs() const {
    return wide ? packs_fit(static_cast<const float*>(data))
                : packs_fit(static_cast<const T*>(data));
  }
  __device__ Floats<kPack> operator()(Index i, Index left, bool packed) const {
    Floats<kPack> w;
    if (data == nullptr) {
      for (int j = 0; j < kPack; ++j) {
        w[j] = otherwise;
      }
    } else if (wide) {
      w = widen(load_some(static_cast<const float*>(data) + i, left, packed));
    } else {
      w = widen(load_some(static_cast<const T*>(data) + i, left, packed));
    }
    return w;
  }

 private:
  template <class E>
  __device__ Floats<kPack> widen(const Raw<E, kPack>& raw) const {
    Floats<kPack> w;
    for (int j = 0; j < kPack; ++j) {
      w[j] = static_cast<float>(raw.v[j]) + offset;
    }
    return w;
  }
};

/// Chooses threads along a row and rows side by side: a row has as few threads as can hold it, and
/// a block as many rows as fit.
inline dim3 block_of(Index h, unsigned threads, Index columns_of_thread = kColumnsOfThread) {
  unsigned x = kWarp;
  while (x < kMostThreads && x * columns_of_thread < h) {
    x += x < 4 * kWarp ? kWarp : 4 * kWarp;
  }
  return {x, std::max(1u, threads / x)};
}

/// Calls f<X, Y>() for types that are equal, or of which one is fp32.
template <class F>
void visit_norm_types(DType x, DType y, F&& f) {
  visit_element(x, [&]<class X>() {
    visit_element(y, [&]<class Y>() {
      if constexpr (std::is_same_v<X, Y> || std::is_same_v<X, float> || std::is_same_v<Y, float>) {
        f.template operator()<X, Y>();
      } else {
        MPITRON_CHECK(x == y, name_of(x), name_of(y));
      }
    });
  });
}

}  // namespace mpitron::kernels::cuda::norm
