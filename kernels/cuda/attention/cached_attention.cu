// Numerical contract: that of cached_attention.h. A warp has one head of one row and kChunk
// positions: its lanes score one position each, then add up the values, some components to a lane.
#include "kernels/attention/cached_attention.h"
#include "kernels/cuda/attention/cached_places.cuh"
#include "kernels/cuda/common/reduce.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr Index kChunk = 256;  // positions of a warp
constexpr int kWarpsOfBlock = 4;
constexpr int kMostComponents = 16;  // of a value, to a lane

/// Queries of type T and a cache of type C.
template <class T, class C>
struct Attending {
  const T* q;
  Index token_stride, group_stride, head_stride;
  CacheView<const C> keys, values;
  CacheView<const std::uint8_t> key_scales, value_scales;  // of bytes
  PieceTable table;
  Index rows, groups, per_group, chunks;
  float scale;
  float softcap;
  Index window;
  bool zero_sink;
  const T* sinks;  // or null
  const T* bias;   // or null
  Index bias_stride, bias_middle;
  float* parts;  // [rows, n, chunks, dv], where there are several chunks
  float* part_lse;

  __device__ Index heads() const { return groups * per_group; }
};

/// The softmax over one chunk of one head, as far as a lane knows it.
struct Partial {
  float largest, sum;
  float values[kMostComponents];  // lane, lane + 32, ..
};

/// What one head of one row sees of a chunk.
template <class T, class C>
struct HeadChunk {
  const Attending<T, C>& a;
  Index row, group, head, position;  // head: of all
  const float* query;                // shared memory

  /// Multiplies with the scale of a row.
  __device__ float times_scale(float x, const CacheView<const std::uint8_t>& scales, Index block,
                               Index of) const {
    if constexpr (std::is_same_v<C, CachedByte>) {
      return x * cached_factor(scales.data[scales.offset(block, group, of)]);
    } else {
      return x;
    }
  }

  /// Returns the score of one cached position, summed over the head by one thread in fp32.
  __device__ float score(Index other, Index block) const {
    const Index key_row = other % a.table.block_size;
    const C* key = a.keys.data + a.keys.offset(block, group, key_row);
    float sum = 0;
    for (Index i = 0; i < a.keys.d; ++i) {
      sum += query[i] * static_cast<float>(key[i]);
    }
    sum = times_scale(sum, a.key_scales, block, key_row) * a.scale;
    if (a.softcap > 0) {
      sum = a.softcap * tanhf(sum / a.softcap);
    }
    if (a.bias != nullptr) {
      sum += static_cast<float>(a.bias[(other - position + a.bias_middle) * a.bias_stride + head]);
    }
    return sum;
  }

  /// Positions [base, base + 32), of which [begin, end) are visible.
  __device__ void add(Index base, Index begin, Index end, Partial& partial) const {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const Index other = base + lane;
    const bool inside = other >= begin && other < end;
    const Index block = inside ? a.table.block(row, other) : -1;
    const float own = block >= 0 ? score(other, block) : -INFINITY;
    const float largest = fmaxf(partial.largest, warp_reduce(own, Largest{}));
    if (std::isinf(largest)) {
      return;  // nothing is here
    }
    const float keep = expf(partial.largest - largest);
    float power = block >= 0 ? expf(own - largest) : 0;
    partial.largest = largest;
    partial.sum = partial.sum * keep + warp_reduce(power, Sum{});
    for (float& value : partial.values) {
      value *= keep;
    }
    const Index value_row = other % a.table.block_size;
    const Index offset = block >= 0 ? a.values.offset(block, group, value_row) : 0;
    power = block >= 0 ? times_scale(power, a.value_scales, block, value_row) : 0;
    for (int j = 0; j < kWarp; ++j) {
      const float weight = __shfl_sync(kAllLanes, power, j);
      const C* value = a.values.data + __shfl_sync(kAllLanes, offset, j);
      for (int i = 0; i < kMostComponents && i * kWarp + lane < a.values.d; ++i) {
        partial.values[i] += weight * static_cast<float>(value[i * kWarp + lane]);
      }
    }
  }
};

/// Attends a query of one head to one chunk by one warp: 32 positions at a time get a score each,
/// the warp agrees on the maximum, and each lane sums its components of the values.
template <class T, class C, class O>
__global__ void attend(const __grid_constant__ Attending<T, C> a, O* o, float* lse) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Index item = static_cast<Index>(blockIdx.x) * kWarpsOfBlock + warp;
  const Index row = item / a.heads(), head = item % a.heads(), chunk = blockIdx.y;
  const Index position = row < a.rows ? a.table.position(row) : -1;
  if (position < 0) {
    return;
  }
  const Index group = head / a.per_group;
  float* const query = dynamic_shared<float>() + warp * a.keys.d;
  const T* const given =
      a.q + row * a.token_stride + group * a.group_stride + head % a.per_group * a.head_stride;
  for (Index i = lane; i < a.keys.d; i += kWarp) {
    query[i] = static_cast<float>(given[i]);
  }
  __syncwarp();
  Partial partial{-INFINITY, 0, {}};
  if (chunk == 0 && (a.zero_sink || a.sinks != nullptr)) {
    partial.largest = a.sinks != nullptr ? static_cast<float>(a.sinks[head]) : 0;
    partial.sum = 1;
  }
  const Index first = a.window >= 0 && position > a.window ? position - a.window : 0;
  const Index begin = max(first, chunk * kChunk), end = min(position + 1, (chunk + 1) * kChunk);
  const HeadChunk<T, C> seen{a, row, group, head, position, query};
  for (Index base = begin / kWarp * kWarp; base < end; base += kWarp) {
    seen.add(base, begin, end, partial);
  }
  const bool whole = a.chunks == 1;
  const float factor = partial.sum > 0 ? 1.F / partial.sum : 0.F;
  for (int i = 0; i < kMostComponents && i * kWarp + lane < a.values.d; ++i) {
    const Index column = i * kWarp + lane;
    const float value = partial.values[i] * factor;
    if (whole) {
      o[item * a.values.d + column] = static_cast<O>(value);
    } else {
      a.parts[(item * a.chunks + chunk) * a.values.d + column] = value;
    }
  }
  const float logarithm = partial.largest + logf(partial.sum);
  if (lane == 0 && (!whole || lse != nullptr)) {
    (whole ? lse : a.part_lse)[whole ? item : item * a.chunks + chunk] = logarithm;
  }
}

/// Joins the chunks of every head in their order.
template <class T, class C, class O>
__global__ void join(const __grid_constant__ Attending<T, C> a, O* o, float* lse) {
  for_rows(a.rows * a.heads(), a.values.d, false, [&](Index item, Index i, auto) {
    if (a.table.position(item / a.heads()) < 0) {
      return;
    }
    const float* const logarithms = a.part_lse + item * a.chunks;
    float largest = -INFINITY;
    for (Index chunk = 0; chunk < a.chunks; ++chunk) {
      largest = fmaxf(largest, logarithms[chunk]);
    }
    float sum = 0, value = 0;
    for (Index chunk = 0; chunk < a.chunks && !std::isinf(largest); ++chunk) {
      const float weight = expf(logarithms[chunk] - largest);
      sum += weight;
      value += weight * a.parts[(item * a.chunks + chunk) * a.values.d + i];
    }
    o[item * a.values.d + i] = static_cast<O>(sum > 0 ? value / sum : 0.F);
    if (lse != nullptr && i == 0) {
      lse[item] = largest + logf(sum);
    }
  });
}

Index chunks_of(const CachedAttention& k) {
  Index most = k.most_positions;
  for (const CachedPiece& piece : k.pieces) {
    most = std::max(most, piece.first_position + (k.causal ? piece.rows : 1));
  }
  return std::max<Index>(1, (most + kChunk - 1) / kChunk);
}

Index heads_of_rows(const CachedAttention& k) {
  return k.q.size(0) * k.q.size(2) * k.q.size(3);
}

CacheView<const std::uint8_t> scales_of(const In& scales) {
  return scales ? CacheView<const std::uint8_t>::of(scales) : CacheView<const std::uint8_t>{};
}

/// Gathers the arguments. Every row is cut into chunks at multiples of kChunk, as many as the
/// longest of the batch needs; those behind a row's end have no weight in the join, so its bits do
/// not depend on the others.
template <class T, class C>
Attending<T, C> attending(const CachedAttention& k) {
  const Index chunks = chunks_of(k), items = heads_of_rows(k);
  MPITRON_CHECK(k.value_cache.size(3) <= kMostComponents * kWarp, k.value_cache.size(3));
  Attending<T, C> a{.q = elements<T>(k.q),
                    .token_stride = k.q.stride(0),
                    .group_stride = k.q.stride(2),
                    .head_stride = k.q.stride(3),
                    .keys = CacheView<const C>::of(k.key_cache),
                    .values = CacheView<const C>::of(k.value_cache),
                    .key_scales = scales_of(k.key_scales),
                    .value_scales = scales_of(k.value_scales),
                    .table = PieceTable::of(k.table, k.key_cache),
                    .rows = k.q.size(0),
                    .groups = k.q.size(2),
                    .per_group = k.q.size(3),
                    .chunks = chunks,
                    .scale = k.scale,
                    .softcap = k.softcap,
                    .window = k.window,
                    .zero_sink = k.zero_sink,
                    .sinks = elements<T>(k.sinks),
                    .bias = elements<T>(k.bias),
                    .bias_stride = k.bias ? k.bias.stride(0) : 0,
                    .bias_middle = k.bias ? k.bias.size(0) / 2 : 0,
                    .parts = static_cast<float*>(k.workspace.data),
                    .part_lse = nullptr};
  if (chunks > 1) {
    a.part_lse = a.parts + items * chunks * a.values.d;
  }
  return a;
}

}  // namespace

Index workspace_bytes(const device::CudaStream&, const CachedAttention& k) {
  const Index chunks = chunks_of(k);
  return chunks == 1 ? 0
                     : heads_of_rows(k) * chunks * (k.value_cache.size(3) + 1) *
                           static_cast<Index>(sizeof(float));
}

void run(device::CudaStream& stream, const CachedAttention& k) {
  check(k);
  const auto attend_all = [&]<class T, class C, class O>() {
    const Attending<T, C> a = attending<T, C>(k);
    O* const o = elements<O>(k.o);
    float* const lse = elements<float>(k.lse);
    const Index items = heads_of_rows(k);
    const LaunchShape shape{dim3(static_cast<unsigned>((items + kWarpsOfBlock - 1) / kWarpsOfBlock),
                                 static_cast<unsigned>(a.chunks)),
                            dim3(kWarpsOfBlock * kWarp),
                            static_cast<std::size_t>(kWarpsOfBlock * a.keys.d) * sizeof(float)};
    launch(stream, CachedAttention::name, shape, attend<T, C, O>, a, o, lse);
    if (a.chunks > 1) {
      launch(stream, CachedAttention::name, row_shape(items, a.values.d), join<T, C, O>, a, o, lse);
    }
  };
  const auto attend_from = [&]<class T, class C>() {
    if (k.o.dtype == k.q.dtype) {
      attend_all.template operator()<T, C, T>();
    } else {
      attend_all.template operator()<T, C, float>();
    }
  };
  visit_element(k.q.dtype, [&]<class T>() {
    if (k.key_scales) {
      attend_from.template operator()<T, CachedByte>();
    } else if (k.key_cache.dtype == k.q.dtype) {
      attend_from.template operator()<T, T>();
    } else {
      attend_from.template operator()<T, __nv_bfloat16>();
    }
  });
}

}  // namespace mpitron::kernels
