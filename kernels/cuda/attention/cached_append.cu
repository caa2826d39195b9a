// Numerical contract: that of CacheAppend in cached_attention.h. Numbers that stay what they are,
// or become bf16, are an element to a thread; a row of 8 bits is a warp's, whose lanes find its
// range together.
#include "kernels/cuda/attention/cached_places.cuh"
#include "kernels/cuda/common/reduce.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr int kWarpsBeside = 4;  // of a block

template <class T, class C>
struct Appended {
  const T* from;  // [t, 1, g, d]
  Index token_stride, group_stride;
  CacheView<C> cache;

  static Appended of(const In& from, const Out& cache) {
    return {elements<T>(from), from.stride(0), from.stride(2), CacheView<C>::of(cache)};
  }
  const __device__ T* row(Index token, Index group) const {
    return from + token * token_stride + group * group_stride;
  }
};

/// Puts keys or values of a pass to their blocks.
template <class T, class C>
__global__ void append(const __grid_constant__ Appended<T, C> a,
                       const __grid_constant__ PieceTable table, Index tokens, Index groups) {
  for_rows(tokens * groups, a.cache.d, false, [&](Index row, Index i, auto) {
    const Index token = quotient(row, groups), group = row - token * groups;
    const Index position = table.position(token);
    const Index block = position < 0 ? -1 : table.block(token, position);
    if (block < 0) {
      return;
    }
    C& to = a.cache.data[a.cache.offset(block, group, position % table.block_size) + i];
    if constexpr (std::is_same_v<T, C>) {
      to = a.row(token, group)[i];
    } else {
      to = static_cast<C>(static_cast<float>(a.row(token, group)[i]));
    }
  });
}

/// Rows that share their scales: keys, values, or both.
template <class T>
struct AppendedBytes {
  Appended<T, CachedByte> parts[2];
  int count;
  CacheView<std::uint8_t> scales;
};

struct LargestBits {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a < b ? b : a;
  }
};

/// Rounds rows to 8 bits, a row of a group to a warp.
template <class T>
__global__ void append_bytes(const __grid_constant__ AppendedBytes<T> a,
                             const __grid_constant__ PieceTable table, Index tokens, Index groups) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Index item =
      static_cast<Index>(blockIdx.x) * kWarpsBeside + static_cast<int>(threadIdx.x) / kWarp;
  const Index token = item / groups, group = item % groups;
  const Index position = token < tokens ? table.position(token) : -1;
  const Index block = position < 0 ? -1 : table.block(token, position);
  if (block < 0) {
    return;
  }
  RowRange range;
  for (int part = 0; part < a.count; ++part) {
    const T* const x = a.parts[part].row(token, group);
    for (Index i = lane; i < a.parts[part].cache.d; i += kWarp) {
      range.add(static_cast<float>(x[i]));
    }
  }
  range.finite = warp_reduce(range.finite, LargestBits{});
  range.all = warp_reduce(range.all, LargestBits{});
  const std::uint8_t scale = range.scale();
  const float to_range = to_cached_range(scale);
  const Index row = position % table.block_size;
  for (int part = 0; part < a.count; ++part) {
    const T* const x = a.parts[part].row(token, group);
    const CacheView<CachedByte>& cache = a.parts[part].cache;
    CachedByte* const to = cache.data + cache.offset(block, group, row);
    for (Index i = lane; i < cache.d; i += kWarp) {
      to[i] = cached_byte(static_cast<float>(x[i]) * to_range);
    }
  }
  if (lane == 0) {
    a.scales.data[a.scales.offset(block, group, row)] = scale;
  }
}

template <class T, class C>
void append_numbers(device::CudaStream& stream, const In& from, const Out& cache,
                    const PieceTable& table) {
  const Index tokens = from.size(0), groups = from.size(2);
  const auto a = Appended<T, C>::of(from, cache);
  launch(stream, CacheAppend::name, row_shape(tokens * groups, a.cache.d), append<T, C>, a, table,
         tokens, groups);
}

template <class T>
void append_rows_of_bytes(device::CudaStream& stream, const AppendedBytes<T>& a, const In& k,
                          const PieceTable& table) {
  const Index tokens = k.size(0), groups = k.size(2);
  const auto blocks = static_cast<unsigned>((tokens * groups + kWarpsBeside - 1) / kWarpsBeside);
  launch(stream, CacheAppend::name, LaunchShape{dim3(blocks), dim3(kWarpsBeside * kWarp)},
         append_bytes<T>, a, table, tokens, groups);
}

template <class T>
void append_all_bytes(device::CudaStream& stream, const CacheAppend& k, const PieceTable& table) {
  const auto keys = Appended<T, CachedByte>::of(k.k, k.key_cache);
  const auto values = Appended<T, CachedByte>::of(k.v, k.value_cache);
  const auto key_scales = CacheView<std::uint8_t>::of(k.key_scales);
  if (!k.value_scales) {
    return append_rows_of_bytes<T>(stream, {{keys, values}, 2, key_scales}, k.k, table);
  }
  append_rows_of_bytes<T>(stream, {{keys, {}}, 1, key_scales}, k.k, table);
  const auto value_scales = CacheView<std::uint8_t>::of(k.value_scales);
  append_rows_of_bytes<T>(stream, {{values, {}}, 1, value_scales}, k.k, table);
}

}  // namespace

void run(device::CudaStream& stream, const CacheAppend& k) {
  check(k);
  const PieceTable table = PieceTable::of(k.table, k.key_cache);
  visit_element(k.k.dtype, [&]<class T>() {
    if (k.key_scales) {
      append_all_bytes<T>(stream, k, table);
    } else if (k.key_cache.dtype == k.k.dtype) {
      append_numbers<T, T>(stream, k.k, k.key_cache, table);
      append_numbers<T, T>(stream, k.v, k.value_cache, table);
    } else {
      append_numbers<T, __nv_bfloat16>(stream, k.k, k.key_cache, table);
      append_numbers<T, __nv_bfloat16>(stream, k.v, k.value_cache, table);
    }
  });
}

}  // namespace mpitron::kernels
