// Attends to the cache of keys and values (generation). Positions enter the
// softmax in spans of four groups of 16 that begin at multiples of 64, so a row has the same bits
// whatever its batch, the cut of its prompt or the blocks it lies on. Arithmetic in fp32, outputs
// rounded once.
#include "kernels/attention/cached_attention.h"

#include <cmath>
#include <limits>

#include "kernels/host/attention/cached_walk.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using cached::kGroup;
using cached::Positions;
using cached::row_offset;
using cached::Tile;
using cached::Tiles;
using cached::Walk;
using simd::Float;
using simd::Int;
using simd::kLanes;

/// Queries of one group of heads that share a pass over its keys, and how many of them are in
/// registers at a time.
constexpr Index kQueries = 32;
constexpr int kBeside = 4;
/// Groups of positions whose scores are weighed together: a query alone then waits for its largest
/// score a quarter as often.
constexpr Index kSpan = 4;
constexpr Index kMostKey = 1024, kMostValue = 512;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Neighbouring groups of positions that enter the softmax together; a group that is not there has
/// no keys.
template <class T>
struct Span {
  Positions<T> at[kSpan];
  /// Whether every group is there and has sixteen positions.
  bool whole() const {
    return std::ranges::all_of(at, [](const auto& group) { return group.keys.count == kGroup; });
  }
};

/// A span of a tile, the tile's first or last one or neither; absent behind a thread's last tile.
template <class T>
struct SpanOfTile {
  bool there = false, first = false, last = false;
  Tile tile{};
  Span<T> span{};
};

/// Asks for rows that are read soon: a row is a few lines of memory, and lines of a block end too
/// early for the processor to foresee the next block's.
template <class T>
void ask_for(const cached::Rows<T>& rows) {
  constexpr Index kNumbersOfLine = 64 / sizeof(T);
  for (Index i = 0; i < rows.count; ++i) {
    for (Index j = 0; j < rows.size; j += kNumbersOfLine) {
      simd::prefetch(rows.row(i) + j);
    }
  }
}

/// What a thread keeps of a tile: its queries in units, a group's keys and values in the form in
/// which several queries take them, scores of a span, which become powers, and of each query its
/// running softmax: largest score, sums of powers lane by lane, weighted sum of values.
struct alignas(64) Memory {
  float queries[kQueries * kMostKey];
  float keys[kGroup * kMostKey];
  float values[kGroup * kMostValue];
  float powers[kQueries * kSpan * kGroup] = {};
  float sums[kQueries * kMostValue];
  float totals[kQueries * kGroup];
  float largest[kQueries];

  float* powers_of(Index query, Index group) { return powers + (query * kSpan + group) * kGroup; }
};

/// Attention to a cache of type T, with scores of units U.
template <class T, class U>
class Attention {
 public:
  explicit Attention(const CachedAttention& kernel)
      : k_(kernel),
        tiles_(kernel, kQueries),
        d_(kernel.key_cache.size(3)),
        dv_(kernel.value_cache.size(3)),
        units_(U::steps(d_) * kLanes),
        value_width_((dv_ + kLanes - 1) / kLanes * kLanes) {
    MPITRON_CHECK(d_ <= kMostKey && dv_ <= kMostValue, d_, dv_);
  }

  Index tiles() const { return tiles_.count(); }
  /// Estimates the multiplications of all tiles.
  Index work() const {
    Index work = 0;
    for (const CachedPiece& piece : k_.pieces) {
      work += piece.rows * (piece.first_position + piece.rows) * (d_ + dv_) / kLanes;
    }
    return work * k_.q.size(2) * k_.q.size(3);
  }
  /// Runs tiles [begin, end), counted in the order of pieces.
  void run(Index begin, Index end) const {
    Memory memory;
    Walk<T> at(k_, tiles_, begin, end);
    for (SpanOfTile<T> next = next_part(at, true); next.there;) {
      const SpanOfTile<T> part = next;
      next = next_part(at, part.last);
      if (part.first) {
        start(part.tile, memory);
      }
      part.tile.count == part.tile.groups ? add_to_each(part, next, memory)
                                          : add_to_many(part.tile, part.span, memory);
      if (part.last) {
        finish(part.tile, memory);
      }
    }
  }

 private:
  /// Spans end where the number of a group is a multiple of kSpan, so they are the same for all
  /// queries of a sequence.
  static Span<T> next_span(Walk<T>& at) {
    Span<T> span;
    const Index left = at.left(), number = at.number() / kSpan;
    while (at.left() == left && at.number() / kSpan == number) {
      span.at[at.number() % kSpan] = at.positions();
      at.next();
    }
    return span;
  }
  static SpanOfTile<T> next_part(Walk<T>& at, bool first) {
    if (at.ended()) {
      return {};
    }
    SpanOfTile<T> part{.there = true, .first = first, .tile = at.tile()};
    const Index left = at.left();
    part.span = next_span(at);
    part.last = at.left() != left;
    return part;
  }
  /// A sink is a score that is there before the first key, with power 1 and no value.
  void start(const Tile& tile, Memory& memory) const {
    std::fill_n(memory.sums, tile.count * value_width_, 0.F);
    for (Index query = 0; query < tile.count; ++query) {
      load_query(tiles_.offset_of(tile, query), memory.queries + query * units_);
      const bool sink = k_.sinks || k_.zero_sink;
      memory.largest[query] = sink ? 0 : -kInfinity;
      std::fill_n(memory.totals + query * kGroup, kGroup, 0.F);
      memory.totals[query * kGroup] = sink ? 1 : 0;
      if (k_.sinks) {
        visit_dtype(k_.sinks.dtype, [&]<class S>() {
          memory.largest[query] = static_cast<float>(k_.sinks.as<S>()[tiles_.head_of(tile, query)]);
        });
      }
    }
  }
  /// Stores a query, which begins at an element of q, in units.
  void load_query(Index begin, float* units) const {
    const auto load = [&]<class Q, class V>() {
      const Q* const from = k_.q.as<Q>() + begin;
      for (Index j = 0; j < d_; j += V::kStep) {
        simd::store(units + j / V::kNumbers, V::load(from, j, d_));
      }
    };
    if constexpr (U::kPairs) {
      load.template operator()<BFloat16, cached::Units<BFloat16>>();
    } else {
      visit_dtype(k_.q.dtype,
                  [&]<class Q>() { load.template operator()<Q, cached::Units<Q, false>>(); });
    }
  }
  /// The rows of the group of heads i behind that of the given rows.
  static cached::Rows<T> behind(cached::Rows<T> rows, const In& cache, const In& scales, Index i) {
    if (rows.data != nullptr) {
      rows.data += i * cache.stride(1);
      rows.scales += scales ? i * scales.stride(1) : 0;
    }
    return rows;
  }
  /// Keys and values that a query of the tile sees at some positions.
  cached::Rows<T> keys_of(const Tile& tile, Index query, const Positions<T>& at) const {
    return behind(at.keys, k_.key_cache, k_.key_scales, tile.groups > 1 ? query : 0);
  }
  cached::Rows<T> values_of(const Tile& tile, Index query, const Positions<T>& at) const {
    return behind(at.values, k_.value_cache, k_.value_scales, tile.groups > 1 ? query : 0);
  }
  /// One query of each group: all keys of sixteen positions lie behind each other, which is how
  /// memory is read at its full speed.
  void add_to_each(const SpanOfTile<T>& part, const SpanOfTile<T>& next, Memory& memory) const {
    const Tile& tile = part.tile;
    const Span<T>& span = part.span;
    const auto for_groups = [&](auto&& f) {
      for (Index i = 0; i < kSpan; ++i) {
        for (Index query = 0; span.at[i].here() && query < tile.count; ++query) {
          f(span.at[i], i, query);
        }
      }
    };
    for_groups([&](const Positions<T>& at, Index i, Index query) {
      simd::store(
          memory.powers_of(query, i),
          cached::multiply_keys<T, U>(memory.queries + query * units_, keys_of(tile, query, at)));
      ask_for(values_of(tile, query, at));
    });
    for (Index query = 0; query < tile.count; ++query) {
      weigh(tile, query, span, memory);
    }
    for_groups([&](const Positions<T>& at, Index i, Index query) {
      if (query < next.tile.groups) {
        ask_for(keys_of(next.tile, query, next.span.at[i]));
      }
      cached::add_values<1>(values_of(tile, query, at),
                            {memory.powers_of(query, i), 0, memory.sums + query * value_width_, 0});
    });
  }
  void add_to_many(const Tile& tile, const Span<T>& span, Memory& memory) const {
    for (Index i = 0; i < kSpan; ++i) {
      if (span.at[i].here()) {
        cached::turn_keys<T, U>(span.at[i].keys, memory.keys);
        for_several(tile, span.at[i].first, [&]<int Q>(Index query) {
          Float scores[Q];
          cached::multiply_turned<U, Q>(memory.keys, units_ / kLanes,
                                        memory.queries + query * units_, units_, scores);
          for (int q = 0; q < Q; ++q) {
            simd::store(memory.powers_of(query + q, i), scores[q]);
          }
        });
      }
    }
    for (Index query = 0; query < tile.count; ++query) {
      weigh(tile, query, span, memory);
    }
    for (Index i = 0; i < kSpan; ++i) {
      if (span.at[i].here()) {
        cached::widen_values(span.at[i].values, memory.values, value_width_);
        const cached::Rows<float> values{memory.values, value_width_, span.at[i].values.count, dv_};
        for_several(tile, span.at[i].first, [&]<int Q>(Index query) {
          cached::add_values<Q>(values, {memory.powers_of(query, i), kSpan * kGroup,
                                         memory.sums + query * value_width_, value_width_});
        });
      }
    }
  }
  /// Calls f<Q>(query) for Q queries at a time, where one of them sees the position.
  template <class F>
  void for_several(const Tile& tile, Index position, F&& f) const {
    Index query = tiles_.first_seeing(tile, position) / kBeside * kBeside;
    for (; query + kBeside <= tile.count; query += kBeside) {
      f.template operator()<kBeside>(query);
    }
    for (; query < tile.count; ++query) {
      f.template operator()<1>(query);
    }
  }
  Float scaled(Float score) const {
    score *= k_.scale;
    return k_.softcap > 0 ? k_.softcap * simd::tanh(score / k_.softcap) : score;
  }
  /// Makes a query's scores e^(score - largest) where the position is visible, 0 elsewhere, times
  /// the scales of values.
  void weigh(const Tile& tile, Index query, const Span<T>& span, Memory& memory) const {
    const Index position = tiles_.position_of(tile, query);
    const Index first = tiles_.first_visible(position), last = tiles_.last_visible(tile, query);
    const bool all =
        span.whole() && first <= span.at[0].first && span.at[kSpan - 1].first + kGroup <= last + 1;
    Float scores[kSpan], most = simd::splat(-kInfinity);
    for (Index i = 0; i < kSpan; ++i) {
      const Float products = simd::load(memory.powers_of(query, i));
      scores[i] = scaled(cached::times_scales(products, keys_of(tile, query, span.at[i])));
      if (k_.bias) {
        scores[i] += bias_of(tile, query, span.at[i]);
      }
      if (!all) {
        scores[i] = visible(first, last, span.at[i]) ? scores[i] : simd::splat(-kInfinity);
      }
      most = simd::max(most, scores[i]);
    }
    const float largest = std::max(memory.largest[query], simd::largest_lane(most));
    if (largest > memory.largest[query]) {
      grow(query, largest, memory);
    }
    Float total = simd::load(memory.totals + query * kGroup);
    for (Index i = 0; i < kSpan; ++i) {
      const Float power = scores[i] == -kInfinity ? Float{} : simd::exp(scores[i] - largest);
      total += power;
      simd::store(memory.powers_of(query, i),
                  cached::times_scales(power, values_of(tile, query, span.at[i])));
    }
    simd::store(memory.totals + query * kGroup, total);
  }
  /// Tells for each lane whether its position is one of [first, last].
  static Int visible(Index first, Index last, const Positions<T>& at) {
    const Int lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const auto begin = static_cast<std::int32_t>(first - at.first);
    const auto end = static_cast<std::int32_t>(std::min(last + 1 - at.first, at.keys.count));
    return (lane >= begin) & (lane < end);
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
  Float bias_of(const Tile& tile, Index query, const Positions<T>& at) const {
    const Index position = tiles_.position_of(tile, query), middle = k_.bias.size(0) / 2;
    Float bias{};
    visit_dtype(k_.bias.dtype, [&]<class B>() {
      const B* of_head = k_.bias.as<B>() + tiles_.head_of(tile, query);
      for (Index i = 0; i < std::min(at.keys.count, position + 1 - at.first); ++i) {
        const Index row = at.first + i - position + middle;
        bias[i] = static_cast<float>(of_head[row * k_.bias.stride(0)]);
      }
    });
    return bias;
  }
  void finish(const Tile& tile, const Memory& memory) const {
    for (Index query = 0; query < tile.count; ++query) {
      const Index head = tiles_.row_of(tile, query) * k_.o.size(1) + tiles_.head_of(tile, query);
      const float sum = simd::lane_sum(simd::load(memory.totals + query * kGroup));
      const float factor = sum > 0 ? 1.f / sum : 0.f;
      if (k_.lse) {
        k_.lse.as<float>()[head] = memory.largest[query] + std::log(sum);
      }
      const float* const values = memory.sums + query * value_width_;
      visit_dtype(k_.o.dtype, [&]<class O>() {
        O* const out = k_.o.as<O>() + head * dv_;
        simd::for_lanes(dv_, [&](Index j, auto lanes) {
          simd::store(out + j, simd::load(values + j) * factor, lanes);
        });
      });
    }
  }

  const CachedAttention& k_;
  Tiles tiles_;
  Index d_, dv_;
  Index units_, value_width_;  // of a row in memory
};

}  // namespace

void run(device::HostStream&, const CachedAttention& kernel) {
  check(kernel);
  const auto attend = [&]<class T, class U>() {
    const Attention<T, U> attention(kernel);
    host::for_ranges(attention.tiles(), attention.work(),
                     [&](Index begin, Index end) { attention.run(begin, end); });
  };
  if (kernel.key_cache.dtype == DType::u8) {
    using Pairs = cached::Units<CachedByte, cached::kPairProducts>;
    return kernel.q.dtype == DType::bf16
               ? attend.template operator()<CachedByte, Pairs>()
               : attend.template operator()<CachedByte, cached::Units<CachedByte>>();
  }
  visit_dtype(kernel.key_cache.dtype, [&]<class T>() {
    if (kernel.q.dtype == kernel.key_cache.dtype) {
      attend.template operator()<T, cached::Units<T>>();
    } else {
      attend.template operator()<T, cached::Units<T, false>>();
    }
  });
}

}  // namespace mpitron::kernels
