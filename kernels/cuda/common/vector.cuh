#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "intrinsics.cuh"
#include "kernels/cuda/common/element.cuh"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/elementwise/rows.h"

// How kernels read and write memory: packs of neighbouring elements in accesses of up to 16 bytes,
// and rows or flat arrays shared out over threads. A body is written once and runs on whole packs
// and, where rows end or are not aligned, on single elements:
//
//   for_packs(n, packed, threads_of_grid(), [&](Index i, auto width) {
//     store(y + i, each([&](float v) { return v * factor; }, load(x + i, width)));
//   });

namespace mpitron::kernels::cuda {

/// Elements of a pack: 16 bytes of bf16 and fp16, two accesses of 16 bytes of fp32.
inline constexpr int kPack = 8;
inline constexpr int kThreads = 256;
inline constexpr Index kMaxBlocks = 1 << 16;

template <int N>
using Width = std::integral_constant<int, N>;

/// N neighbouring elements in registers.
template <int N>
struct Floats {
  float v[N];

  __device__ float& operator[](int i) { return v[i]; }
  __device__ float operator[](int i) const { return v[i]; }
};

/// The widest type that N elements of T are whole numbers of.
template <class T, int N>
using Word =
    std::conditional_t<N * sizeof(T) % 16 == 0, uint4,
                       std::conditional_t<N * sizeof(T) % 8 == 0, uint2,
                                          std::conditional_t<N * sizeof(T) % 4 == 0, unsigned, T>>>;

/// N elements in registers as they are stored.
template <class T, int N>
struct alignas(Word<T, N>) Raw {
  T v[N];
};

template <class T, int N>
__device__ Raw<T, N> load_raw(const T* p, Width<N>) {
  using W = Word<T, N>;
  Raw<T, N> raw;
  for (unsigned i = 0; i < sizeof(raw) / sizeof(W); ++i) {
    const W word = reinterpret_cast<const W*>(p)[i];
    memcpy(reinterpret_cast<char*>(&raw) + i * sizeof(W), &word, sizeof(W));
  }
  return raw;
}

template <class T, int N>
__device__ void store_raw(T* p, const Raw<T, N>& raw) {
  using W = Word<T, N>;
  for (unsigned i = 0; i < sizeof(raw) / sizeof(W); ++i) {
    W word;
    memcpy(&word, reinterpret_cast<const char*>(&raw) + i * sizeof(W), sizeof(W));
    if constexpr (std::is_same_v<W, uint4>) {
      store_words(reinterpret_cast<W*>(p) + i, word);
    } else {
      reinterpret_cast<W*>(p)[i] = word;
    }
  }
}

template <class T, int N>
__device__ Floats<N> floats(const Raw<T, N>& raw) {
  Floats<N> x;
  for (int i = 0; i < N; ++i) {
    x[i] = static_cast<float>(raw.v[i]);
  }
  return x;
}

/// Rounds once.
template <class T, int N>
__device__ Raw<T, N> rounded(const Floats<N>& x) {
  Raw<T, N> raw;
  for (int i = 0; i < N; ++i) {
    raw.v[i] = static_cast<T>(x[i]);
  }
  return raw;
}

/// N elements from p as fp32.
template <class T, int N>
__device__ Floats<N> load(const T* p, Width<N> width) {
  return floats(load_raw(p, width));
}

/// Rounds once.
template <class T, int N>
__device__ void store(T* p, const Floats<N>& x) {
  store_raw(p, rounded<T>(x));
}

/// The first `count` elements from p, the rest 0; in whole words where N are there and `aligned`.
template <int N = kPack, class T>
__device__ Raw<T, N> load_some(const T* p, Index count, bool aligned) {
  if (aligned && count >= N) {
    return load_raw(p, Width<N>());
  }
  Raw<T, N> raw;
  for (int i = 0; i < N; ++i) {
    raw.v[i] = i < count ? p[i] : T{};
  }
  return raw;
}

/// The first `count` elements to p, likewise.
template <class T, int N>
__device__ void store_some(T* p, Index count, bool aligned, const Raw<T, N>& raw) {
  if (aligned && count >= N) {
    store_raw(p, raw);
    return;
  }
  for (int i = 0; i < N; ++i) {
    if (i < count) {
      p[i] = raw.v[i];
    }
  }
}

/// f of each element, or of each of several packs' elements.
template <class F, int N, class... More>
__device__ Floats<N> each(F&& f, const Floats<N>& x, const More&... more) {
  Floats<N> y;
  for (int i = 0; i < N; ++i) {
    y[i] = f(x[i], more[i]...);
  }
  return y;
}

/// a / b of numbers of 32 bits; of 64 a GPU needs a hundred instructions.
inline __device__ Index quotient(Index a, Index b) {
  return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
}

/// Who of how many threads works on a range.
struct Worker {
  Index index, count;
};

inline __device__ Worker thread_of_grid() {
  return {static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x,
          static_cast<Index>(gridDim.x) * blockDim.x};
}

/// body(i, width) over [0, n): in packs where `packed` says that they may be, the rest one by one.
template <class F>
__device__ void for_packs(Index n, bool packed, Worker worker, F&& body) {
  const Index whole = packed ? n / kPack * kPack : 0;
  for (Index i = worker.index * kPack; i < whole; i += worker.count * kPack) {
    body(i, Width<kPack>());
  }
  for (Index i = whole + worker.index; i < n; i += worker.count) {
    body(i, Width<1>());
  }
}

/// body(i, elements) over [0, n) of an array, in packs or one by one as for_packs, where nothing
/// but the elements is read: several packs are on their way at once.
template <class T, class F>
__device__ void for_loaded(const T* x, Index n, bool packed, Worker worker, F&& body) {
  constexpr int kAhead = 2;
  const Index whole = packed ? n / kPack * kPack : 0, step = worker.count * kPack;
  for (Index first = worker.index * kPack; first < whole; first += kAhead * step) {
    Raw<T, kPack> packs[kAhead];
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      const Index i = first + ahead * step;
      if (i < whole) {
        packs[ahead] = load_raw(x + i, Width<kPack>());
      }
    }
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      const Index i = first + ahead * step;
      if (i < whole) {
        body(i, floats(packs[ahead]));
      }
    }
  }
  for (Index i = whole + worker.index; i < n; i += worker.count) {
    body(i, load(x + i, Width<1>()));
  }
}

/// body(row, i, width) over rows of n elements: blockDim.y rows to a block, and each to blockDim.x
/// threads of each of gridDim.y blocks (launched by row_shape).
template <class F>
__device__ void for_rows(Index rows, Index n, bool packed, F&& body) {
  const Worker columns{static_cast<Index>(blockIdx.y) * blockDim.x + threadIdx.x,
                       static_cast<Index>(gridDim.y) * blockDim.x};
  const Index step = static_cast<Index>(gridDim.x) * blockDim.y;
  for (Index row = static_cast<Index>(blockIdx.x) * blockDim.y + threadIdx.y; row < rows;
       row += step) {
    for_packs(n, packed, columns, [&](Index i, auto width) { body(row, i, width); });
  }
}

/// Whether packs may be loaded from p (null: nobody does).
template <class T>
bool packs_fit(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % sizeof(Word<T, kPack>) == 0;
}
template <class T>
bool packs_fit(const Rows<T>& rows) {
  return rows.aligned(sizeof(Word<T, kPack>));
}
template <class... Pointers>
bool all_packed(const Pointers&... pointers) {
  return (packs_fit(pointers) && ...);
}

/// The rows of a view in device memory, as the GPU's type T.
template <class T>
Rows<const T> rows_of(const device::ConstTensorView& view) {
  return {elements<T>(view), view};
}
template <class T>
Rows<T> rows_of(const device::TensorView& view) {
  return {elements<T>(view), view};
}

inline unsigned blocks_for(Index items, Index items_a_block) {
  return static_cast<unsigned>(
      std::clamp((items + items_a_block - 1) / items_a_block, Index{1}, kMaxBlocks));
}

/// Threads for a flat range of n elements.
inline LaunchShape flat_shape(Index n) {
  return {blocks_for(n, Index{kThreads} * kPack), kThreads};
}

/// Threads for rows of n elements: as many neighbours to a row as leave few of them idle, and where
/// there are few rows, several blocks to each.
inline LaunchShape row_shape(Index rows, Index n) {
  constexpr Index kEnoughBlocks = 1 << 13;
  const Index packs = (n + kPack - 1) / kPack;
  const auto rounds = [&](unsigned x) { return (packs + x - 1) / x; };
  unsigned x = kThreads;
  while (x > 8 && 7 * rounds(x) * x > 8 * packs) {
    x /= 2;
  }
  const unsigned y = kThreads / x, blocks = blocks_for(rows, y);
  const Index parts = std::clamp<Index>(kEnoughBlocks / blocks, 1, std::max<Index>(1, rounds(x)));
  return {dim3(blocks, static_cast<unsigned>(parts)), dim3(x, y)};
}

}  // namespace mpitron::kernels::cuda
