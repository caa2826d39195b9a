// Appends to the cache of keys and values and attends to it (generation). Positions enter the
// softmax in groups of 16 that begin at multiples of 16, so a row has the same bits whatever its
// batch, the cut of its prompt or the blocks it lies on. Arithmetic in fp32, outputs rounded once.
#include "kernels/attention/cached_attention.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/host/attention/cached_group.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using cached::kGroup;
using simd::Float;
using simd::Int;
using simd::kLanes;

/// Queries of one group of heads that share a pass over its keys, and how many of them are in
/// registers at a time.
constexpr Index kQueries = 32;
constexpr int kBeside = 4;
constexpr Index kMostKey = 1024, kMostValue = 512;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Elements of a cache [blocks, g, block_size, ..] before a row.
Index row_offset(const device::ConstTensorView& cache, Index block, Index group, Index row) {
  return block * cache.stride(0) + group * cache.stride(1) + row * cache.stride(2);
}

/// Copies rows [begin, end) of a piece.
void copy_rows(const In& from, const Out& cache, const CachedPiece& piece, Index begin, Index end) {
  const Index size = cache.size(2), element = static_cast<Index>(size_of(cache.dtype));
  const auto bytes = static_cast<std::size_t>(cache.size(3) * element);
  for (Index i = begin; i < end; ++i) {
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

/// What a thread keeps of a tile: its queries in units, a group's keys and values in the form in
/// which several queries take them, and of each query its running softmax: largest score, sums of
/// powers lane by lane, weighted sum of values.
struct alignas(64) Memory {
  float queries[kQueries * kMostKey];
  float keys[kGroup * kMostKey];
  float values[kGroup * kMostValue];
  float powers[kQueries * kGroup];
  float sums[kQueries * kMostValue];
  float totals[kQueries * kGroup];
  float largest[kQueries];
};

template <class T, class O>
class Attention {
 public:
  explicit Attention(const CachedAttention& kernel)
      : k_(kernel),
        block_size_(kernel.key_cache.size(2)),
        d_(kernel.key_cache.size(3)),
        dv_(kernel.value_cache.size(3)),
        units_(Units::steps(d_) * kLanes),
        value_width_((dv_ + kLanes - 1) / kLanes * kLanes),
        per_group_(kernel.q.size(3)) {
    MPITRON_CHECK(d_ <= kMostKey && dv_ <= kMostValue, d_, dv_);
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
    Memory memory;
    Index before = 0;
    for (const CachedPiece& piece : k_.pieces) {
      const Index tiles = tiles_of(piece), of_group = tiles / k_.q.size(2);
      for (Index i = std::max(begin, before); i < std::min(end, before + tiles); ++i) {
        const Index first = (i - before) % of_group * kQueries;
        attend({piece, (i - before) / of_group, first,
                std::min<Index>(kQueries, piece.rows * per_group_ - first)},
               memory);
      }
      before += tiles;
    }
  }

 private:
  using Units = cached::Units<T>;

  Index position_of(const Tile& tile, Index query) const {
    return tile.piece.first_position + (k_.causal ? (tile.first + query) / per_group_ : 0);
  }
  /// Returns the last position that the query sees.
  Index last_visible(const Tile& tile, Index query) const {
    return tile.piece.together ? tile.piece.first_position + tile.piece.rows - 1
                               : position_of(tile, query);
  }
  Index first_visible(Index position) const {
    return k_.window >= 0 ? std::max<Index>(position - k_.window, 0) : 0;
  }
  Index head_of(const Tile& tile, Index query) const {
    return tile.group * per_group_ + (tile.first + query) % per_group_;
  }
  const T* query_of(const Tile& tile, Index query) const {
    const Index i = tile.first + query, row = tile.piece.first_row + i / per_group_;
    return k_.q.as<T>() + row * k_.q.stride(0) + tile.group * k_.q.stride(2) +
           i % per_group_ * k_.q.stride(3);
  }

  /// Up to sixteen neighbouring positions; without keys where they are not here.
  struct Positions {
    Index first;
    cached::Rows<T> keys, values;
  };
  Positions positions_from(const Tile& tile, Index first, Index last) const {
    const Index step = std::min(kGroup, block_size_), count = std::min(step, last + 1 - first);
    const Index block =
        count > 0 ? tile.piece.blocks[static_cast<std::size_t>(first / block_size_)] : -1;
    if (block < 0) {
      return {first, {}, {}};
    }
    const auto rows = [&](const In& cache, Index size) {
      const Index offset = row_offset(cache, block, tile.group, first % block_size_);
      return cached::Rows<T>{cache.as<T>() + offset, cache.stride(2), count, size};
    };
    return {first, rows(k_.key_cache, d_), rows(k_.value_cache, dv_)};
  }

  void attend(const Tile& tile, Memory& memory) const {
    start(tile, memory);
    const Index step = std::min(kGroup, block_size_);
    const Index last = last_visible(tile, tile.count - 1);
    Positions at = positions_from(tile, first_visible(position_of(tile, 0)) / step * step, last);
    while (at.first <= last) {
      const Positions next = positions_from(tile, at.first + step, last);
      if (next.keys.data != nullptr) {  // the processor does not foresee where blocks lie
        next.keys.fetch();
        next.values.fetch();
      }
      if (at.keys.data != nullptr) {
        tile.count == 1 ? add_to_one(tile, at, memory) : add_to_many(tile, at, memory);
      }
      at = next;
    }
    finish(tile, memory);
  }
  /// A sink is a score that is there before the first key, with power 1 and no value.
  void start(const Tile& tile, Memory& memory) const {
    std::fill_n(memory.sums, tile.count * value_width_, 0.F);
    for (Index query = 0; query < tile.count; ++query) {
      const T* from = query_of(tile, query);
      for (Index j = 0; j < d_; j += Units::kStep) {
        simd::store(memory.queries + query * units_ + j / Units::kNumbers,
                    Units::load(from, j, d_));
      }
      const bool sink = k_.sinks || k_.zero_sink;
      memory.largest[query] = sink ? 0 : -kInfinity;
      std::fill_n(memory.totals + query * kGroup, kGroup, 0.F);
      memory.totals[query * kGroup] = sink ? 1 : 0;
      if (k_.sinks) {
        visit_dtype(k_.sinks.dtype, [&]<class S>() {
          memory.largest[query] = static_cast<float>(k_.sinks.as<S>()[head_of(tile, query)]);
        });
      }
    }
  }
  void add_to_one(const Tile& tile, const Positions& at, Memory& memory) const {
    const Float scores = cached::multiply_keys(memory.queries, at.keys);
    simd::store(memory.powers, weigh(tile, 0, at, scaled(scores), memory));
    cached::add_values<1>(at.values, memory.powers, memory.sums, value_width_);
  }
  void add_to_many(const Tile& tile, const Positions& at, Memory& memory) const {
    cached::turn_keys(at.keys, memory.keys);
    cached::widen_values(at.values, memory.values, value_width_);
    Index query = 0;
    for (; query + kBeside <= tile.count; query += kBeside) {
      add<kBeside>(tile, query, at, memory);
    }
    for (; query < tile.count; ++query) {
      add<1>(tile, query, at, memory);
    }
  }
  template <int Q>
  void add(const Tile& tile, Index first, const Positions& at, Memory& memory) const {
    Float scores[Q];
    cached::multiply_turned<T, Q>(memory.keys, units_ / kLanes, memory.queries + first * units_,
                                  units_, scores);
    float* const powers = memory.powers + first * kGroup;
    for (int q = 0; q < Q; ++q) {
      simd::store(powers + q * kGroup, weigh(tile, first + q, at, scaled(scores[q]), memory));
    }
    const cached::Rows<float> values{memory.values, value_width_, at.values.count, dv_};
    cached::add_values<Q>(values, powers, memory.sums + first * value_width_, value_width_);
  }
  Float scaled(Float score) const {
    score *= k_.scale;
    return k_.softcap > 0 ? k_.softcap * simd::tanh(score / k_.softcap) : score;
  }
  /// Returns e^(score - largest) of the visible positions, 0 of the others.
  Float weigh(const Tile& tile, Index query, const Positions& at, Float scores,
              Memory& memory) const {
    const Int lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Index position = position_of(tile, query);
    if (k_.bias) {
      scores += bias_of(tile, query, at);
    }
    const auto begin = static_cast<std::int32_t>(first_visible(position) - at.first);
    const auto end = static_cast<std::int32_t>(
        std::min(last_visible(tile, query) + 1 - at.first, at.keys.count));
    const bool all = begin <= 0 && end == kGroup;
    const Int visible = all ? ~Int{} : (lane >= begin) & (lane < end);
    scores = visible ? scores : simd::splat(-kInfinity);
    const float largest = std::max(memory.largest[query], simd::largest_lane(scores));
    if (largest == -kInfinity) {
      return Float{};
    }
    if (largest > memory.largest[query]) {
      grow(query, largest, memory);
    }
    const Float powers = visible ? simd::exp(scores - largest) : Float{};
    float* const totals = memory.totals + query * kGroup;
    simd::store(totals, simd::load(totals) + powers);
    return powers;
  }
  /// Scales what is there to a larger score.
  void grow(Index query, float largest, Memory& memory) const {
    const float factor = std::exp(memory.largest[query] - largest);
    const auto scale = [&](float* row, Index count) {
      for (Index j = 0; j < count; j += kLanes) {
        simd::store(row + j, simd::load(row + j) * factor);
      }
    };
    scale(memory.totals + query * kGroup, kGroup);
    scale(memory.sums + query * value_width_, value_width_);
    memory.largest[query] = largest;
  }
  /// Looks the bias of the visible positions up; that of others is never read.
  Float bias_of(const Tile& tile, Index query, const Positions& at) const {
    const Index position = position_of(tile, query), middle = k_.bias.size(0) / 2;
    Float bias{};
    visit_dtype(k_.bias.dtype, [&]<class B>() {
      const B* of_head = k_.bias.as<B>() + head_of(tile, query);
      for (Index i = 0; i < std::min(at.keys.count, position + 1 - at.first); ++i) {
        const Index row = at.first + i - position + middle;
        bias[i] = static_cast<float>(of_head[row * k_.bias.stride(0)]);
      }
    });
    return bias;
  }
  void finish(const Tile& tile, const Memory& memory) const {
    for (Index query = 0; query < tile.count; ++query) {
      const Index row = tile.piece.first_row + (tile.first + query) / per_group_;
      const Index head = row * k_.o.size(1) + head_of(tile, query);
      O* out = k_.o.as<O>() + head * dv_;
      const float sum = simd::lane_sum(simd::load(memory.totals + query * kGroup));
      const float factor = sum > 0 ? 1.f / sum : 0.f;
      if (k_.lse) {
        k_.lse.as<float>()[head] = memory.largest[query] + std::log(sum);
      }
      const float* const values = memory.sums + query * value_width_;
      simd::for_lanes(dv_, [&](Index j, auto lanes) {
        simd::store(out + j, simd::load(values + j) * factor, lanes);
      });
    }
  }

  const CachedAttention& k_;
  Index block_size_, d_, dv_;
  Index units_, value_width_;  // of a row in memory
  Index per_group_;
};

}  // namespace

void run(device::HostStream&, const CacheAppend& kernel) {
  MPITRON_CHECK(kernel.k.dtype == kernel.key_cache.dtype, name_of(kernel.k.dtype));
  Index rows = 0;
  for (const CachedPiece& piece : kernel.pieces) {
    rows += piece.rows;
  }
  for_ranges(rows, kernel.k.numel() + kernel.v.numel(), [&](Index begin, Index end) {
    for (const CachedPiece& piece : kernel.pieces) {
      const Index first = std::clamp(begin, Index{0}, piece.rows);
      const Index last = std::clamp(end, first, piece.rows);
      copy_rows(kernel.k, kernel.key_cache, piece, first, last);
      copy_rows(kernel.v, kernel.value_cache, piece, first, last);
      begin -= piece.rows, end -= piece.rows;
    }
  });
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
