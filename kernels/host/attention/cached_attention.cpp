// Appends to the cache of keys and values and attends to it (generation). Positions enter the
// softmax in groups of 16 that begin at multiples of 16, so a row has the same bits whatever its
// batch, the cut of its prompt or the blocks it lies on. Arithmetic in fp32, outputs rounded once.
#include "kernels/attention/cached_attention.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;
using simd::Int;
using simd::kLanes;

/// Positions that enter the softmax together.
constexpr Index kGroup = kLanes;
/// Queries of one group of heads that share a pass over its keys.
constexpr int kQueries = 4;
constexpr Index kMostValueVectors = 32;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Elements of a cache [blocks, g, block_size, ..] before a row.
Index row_offset(const device::ConstTensorView& cache, Index block, Index group, Index row) {
  return block * cache.stride(0) + group * cache.stride(1) + row * cache.stride(2);
}

void copy_rows(const In& from, const Out& cache, const CachedPiece& piece) {
  const Index size = cache.size(2), element = static_cast<Index>(size_of(cache.dtype));
  const auto bytes = static_cast<std::size_t>(cache.size(3) * element);
  for (Index i = 0; i < piece.rows; ++i) {
    const Index position = piece.first_position + i;
    const Index block = piece.blocks[static_cast<std::size_t>(position / size)];
    if (block < 0) {
      continue;
    }
    for (Index group = 0; group < cache.size(1); ++group) {
      const Index target = row_offset(cache, block, group, position % size);
      const Index source = (piece.first_row + i) * from.stride(0) + group * from.stride(2);
      std::memcpy(static_cast<char*>(cache.data) + target * element,
                  static_cast<const char*>(from.data) + source * element, bytes);
    }
  }
}

/// A few queries of one group of heads of one sequence: number i is head i % n/g of row i / (n/g).
struct Tile {
  const CachedPiece& piece;
  Index group, first, count;
};

/// The running softmax of one query: largest score, sum of powers, weighted sum of values.
struct Running {
  float largest = -kInfinity, sum = 0;
  Float values[kMostValueVectors] = {};
};

template <class T, class O>
class Attention {
 public:
  explicit Attention(const CachedAttention& kernel)
      : k_(kernel),
        key_stride_(kernel.key_cache.stride(2)),
        value_stride_(kernel.value_cache.stride(2)),
        block_size_(kernel.key_cache.size(2)),
        d_(kernel.key_cache.size(3)),
        dv_(kernel.value_cache.size(3)),
        per_group_(kernel.q.size(3)) {
    MPITRON_CHECK(dv_ <= kMostValueVectors * kLanes, dv_);
  }

  Index tiles_of(const CachedPiece& piece) const {
    return (piece.rows * per_group_ + kQueries - 1) / kQueries * k_.q.size(2);
  }
  /// Estimates the multiplications of all tiles.
  Index work() const {
    Index work = 0;
    for (const CachedPiece& piece : k_.pieces) {
      work += piece.rows * (piece.first_position + piece.rows) * (d_ + dv_) / kLanes;
    }
    return work * k_.q.size(2) * per_group_;
  }
  /// Runs tiles [begin, end), counted in the order of pieces.
  void run(Index begin, Index end) const {
    Index before = 0;
    for (const CachedPiece& piece : k_.pieces) {
      const Index tiles = tiles_of(piece), of_group = tiles / k_.q.size(2);
      for (Index i = std::max(begin, before); i < std::min(end, before + tiles); ++i) {
        const Index first = (i - before) % of_group * kQueries;
        attend({piece, (i - before) / of_group, first,
                std::min<Index>(kQueries, piece.rows * per_group_ - first)});
      }
      before += tiles;
    }
  }

 private:
  Index position_of(const Tile& tile, Index query) const {
    return tile.piece.first_position + (k_.causal ? (tile.first + query) / per_group_ : 0);
  }
  Index first_visible(Index position) const {
    return k_.window >= 0 ? std::max<Index>(position - k_.window, 0) : 0;
  }
  Index head_of(const Tile& tile, Index query) const {
    return tile.group * per_group_ + (tile.first + query) % per_group_;
  }
  const T* query(const Tile& tile, Index query) const {
    const Index i = tile.first + query, row = tile.piece.first_row + i / per_group_;
    return k_.q.as<T>() + row * k_.q.stride(0) + tile.group * k_.q.stride(2) +
           i % per_group_ * k_.q.stride(3);
  }

  void attend(const Tile& tile) const {
    Running running[kQueries];
    start(tile, running);
    const Index step = std::min(kGroup, block_size_);
    const Index last = position_of(tile, tile.count - 1);
    for (Index first = first_visible(position_of(tile, 0)) / step * step; first <= last;
         first += step) {
      const Index block = tile.piece.blocks[static_cast<std::size_t>(first / block_size_)];
      if (block < 0) {
        continue;
      }
      const Index row = first % block_size_;
      const Positions at{
          k_.key_cache.as<T>() + row_offset(k_.key_cache, block, tile.group, row),
          k_.value_cache.as<T>() + row_offset(k_.value_cache, block, tile.group, row), first,
          std::min(step, last + 1 - first)};
      if (tile.count == kQueries) {
        add<kQueries>(tile, 0, at, running);
      } else {
        for (int query = 0; query < tile.count; ++query) {
          add<1>(tile, query, at, running);
        }
      }
    }
    finish(tile, running);
  }
  /// A sink is a score that is there before the first key, with power 1 and no value.
  void start(const Tile& tile, Running* running) const {
    if (!k_.sinks && !k_.zero_sink) {
      return;
    }
    for (Index query = 0; query < tile.count; ++query) {
      running[query].largest = 0;
      running[query].sum = 1;
      if (k_.sinks) {
        visit_dtype(k_.sinks.dtype, [&]<class S>() {
          running[query].largest = static_cast<float>(k_.sinks.as<S>()[head_of(tile, query)]);
        });
      }
    }
  }
  /// Neighbouring rows of the cache, and the position of the first.
  struct Positions {
    const T* keys;
    const T* values;
    Index first, count;
  };

  template <int Q>
  void add(const Tile& tile, int first_query, const Positions& at, Running* running) const {
    Float scores[Q];
    multiply_keys<Q>(tile, first_query, at, scores);
    Float powers[Q];
    for (int q = 0; q < Q; ++q) {
      powers[q] = weigh(tile, first_query + q, at, scores[q], running[first_query + q]);
    }
    add_values<Q>(at, powers, running + first_query);
  }
  template <int Q>
  void multiply_keys(const Tile& tile, int first_query, const Positions& at,
                     Float (&scores)[Q]) const {
    const T* queries[Q];
    for (int q = 0; q < Q; ++q) {
      queries[q] = query(tile, first_query + q);
    }
    Float sums[Q][kLanes] = {};
    for (Index i = 0; i < at.count; ++i) {
      const T* key = at.keys + i * key_stride_;
      simd::for_lanes(d_, [&](Index j, auto lanes) {
        const Float part = simd::load(key + j, lanes);
        for (int q = 0; q < Q; ++q) {
          sums[q][i] = simd::fma(simd::load(queries[q] + j, lanes), part, sums[q][i]);
        }
      });
    }
    for (int q = 0; q < Q; ++q) {
      scores[q] = simd::lane_sums(sums[q]) * k_.scale;
      if (k_.softcap > 0) {
        scores[q] = k_.softcap * simd::tanh(scores[q] / k_.softcap);
      }
    }
  }
  /// Returns e^(score - largest) of the visible positions, 0 of the others; scales what came
  /// before.
  Float weigh(const Tile& tile, int query, const Positions& at, Float scores,
              Running& running) const {
    const Int lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Index position = position_of(tile, query);
    if (k_.bias) {
      scores += bias_of(tile, query, at);
    }
    const auto begin = static_cast<std::int32_t>(first_visible(position) - at.first);
    const auto end = static_cast<std::int32_t>(std::min(position + 1 - at.first, at.count));
    const Int visible = (lane >= begin) & (lane < end);
    scores = visible ? scores : simd::splat(-kInfinity);
    const float largest = std::max(running.largest, simd::lane_max(scores));
    if (largest == -kInfinity) {
      return Float{};
    }
    const Float powers = visible ? simd::exp(scores - largest) : Float{};
    if (largest > running.largest) {
      const float factor = std::exp(running.largest - largest);
      running.sum *= factor;
      for (Index v = 0; v * kLanes < dv_; ++v) {
        running.values[v] *= factor;
      }
      running.largest = largest;
    }
    running.sum += simd::lane_sum(powers);
    return powers;
  }
  /// Looks the bias of the visible positions up; that of others is never read.
  Float bias_of(const Tile& tile, int query, const Positions& at) const {
    const Index position = position_of(tile, query), middle = k_.bias.size(0) / 2;
    Float bias{};
    visit_dtype(k_.bias.dtype, [&]<class B>() {
      const B* of_head = k_.bias.as<B>() + head_of(tile, query);
      for (Index i = 0; i < std::min(at.count, position + 1 - at.first); ++i) {
        const Index row = at.first + i - position + middle;
        bias[i] = static_cast<float>(of_head[row * k_.bias.stride(0)]);
      }
    });
    return bias;
  }
  template <int Q>
  void add_values(const Positions& at, const Float (&powers)[Q], Running* running) const {
    simd::for_lanes(dv_, [&](Index j, auto lanes) {
      Float sums[Q];
      for (int q = 0; q < Q; ++q) {
        sums[q] = running[q].values[j / kLanes];
      }
      for (Index i = 0; i < at.count; ++i) {
        const Float value = simd::load(at.values + i * value_stride_ + j, lanes);
        for (int q = 0; q < Q; ++q) {
          sums[q] = simd::fma(value, simd::splat(powers[q][i]), sums[q]);
        }
      }
      for (int q = 0; q < Q; ++q) {
        running[q].values[j / kLanes] = sums[q];
      }
    });
  }
  void finish(const Tile& tile, const Running* running) const {
    for (Index query = 0; query < tile.count; ++query) {
      const Index row = tile.piece.first_row + (tile.first + query) / per_group_;
      const Index head = row * k_.o.size(1) + head_of(tile, query);
      O* out = k_.o.as<O>() + head * dv_;
      const float sum = running[query].sum, factor = sum > 0 ? 1.f / sum : 0.f;
      if (k_.lse) {
        k_.lse.as<float>()[head] = running[query].largest + std::log(sum);
      }
      simd::for_lanes(dv_, [&](Index j, auto lanes) {
        simd::store(out + j, running[query].values[j / kLanes] * factor, lanes);
      });
    }
  }

  const CachedAttention& k_;
  Index key_stride_, value_stride_, block_size_, d_, dv_, per_group_;
};

}  // namespace

void run(device::HostStream&, const CacheAppend& kernel) {
  MPITRON_CHECK(kernel.k.dtype == kernel.key_cache.dtype, name_of(kernel.k.dtype));
  for (const CachedPiece& piece : kernel.pieces) {
    copy_rows(kernel.k, kernel.key_cache, piece);
    copy_rows(kernel.v, kernel.value_cache, piece);
  }
}

void run(device::HostStream&, const CachedAttention& kernel) {
  MPITRON_CHECK(kernel.q.dtype == kernel.key_cache.dtype, name_of(kernel.q.dtype));
  const auto attend = [&]<class T, class O>() {
    const Attention<T, O> attention(kernel);
    Index tiles = 0;
    for (const CachedPiece& piece : kernel.pieces) {
      tiles += attention.tiles_of(piece);
    }
    for_ranges(tiles, attention.work(), [&](Index begin, Index end) { attention.run(begin, end); });
  };
  visit_dtype(kernel.q.dtype, [&]<class T>() {
    if (kernel.o.dtype == kernel.q.dtype) {
      attend.template operator()<T, T>();
    } else {
      attend.template operator()<T, float>();
    }
  });
}

}  // namespace mpitron::kernels
