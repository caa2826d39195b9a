#pragma once
#include "kernels/attention_views.h"
#include "kernels/cuda/attention_heads.cuh"

// What decides about the scores of the attention kernels besides q and k.
namespace mpitron::kernels::cuda::attention {

/// Columns [begin, end) of a row.
struct Span {
  Index begin, end;

  __device__ bool holds(Index column, int count) const {
    return begin <= column && column + count <= end;
  }
};

/// What decides about the scores of all heads.
template <class T>
struct ScoreRules {
  Index s, s_kv, heads;
  bool causal;
  Index window;
  AttentionPositions positions;
  const std::uint8_t* mask;
  Index mask_stride_sample, mask_stride_query;  // 0: the same for all
  const T* bias;
  Index bias_stride_head, bias_stride_distance;
  float scale;
  DropoutMask dropout;
  float keep_scale;  // of the dropout

  /// The keys that a query sees but for the mask; neither end falls as the query rises.
  __device__ Span keys_of(Index query) const {
    const Index position = positions.queries(query);
    return {window < 0 ? 0 : before(positions.keys, position - window, s_kv),
            causal ? before(positions.keys, position + 1, s_kv) : s_kv};
  }
  /// The queries that see a key but for the mask.
  __device__ Span queries_of(Index key) const {
    const Index position = positions.keys(key);
    return {causal ? before(positions.queries, position, s) : 0,
            window < 0 ? s : before(positions.queries, position + window + 1, s)};
  }

 private:
  /// How many of the first `count` stand before the position.
  static __device__ Index before(const SequenceMap& map, Index position, Index count) {
    const Index all = map.count_before(position);
    return all < 0 ? 0 : all < count ? all : count;
  }
};

template <class T, class Kernel>
ScoreRules<T> score_rules(const Kernel& kernel) {
  ScoreRules<T> rules{};
  rules.s = kernel.q.size(0);
  rules.s_kv = kernel.k.size(0);
  rules.heads = kernel.lse.size(1);
  rules.causal = kernel.causal;
  rules.window = kernel.window;
  rules.positions = positions_of(kernel);
  if (kernel.mask) {
    rules.mask = kernel.mask.template as<std::uint8_t>();
    rules.mask_stride_sample = kernel.mask.size(0) == 1 ? 0 : kernel.mask.stride(0);
    rules.mask_stride_query = kernel.mask.size(1) == 1 ? 0 : kernel.mask.stride(1);
  }
  if (kernel.bias) {
    rules.bias = elements<T>(kernel.bias);
    rules.bias_stride_head = kernel.bias.stride(0);
    rules.bias_stride_distance = kernel.bias.stride(1);
  }
  rules.scale = kernel.scale;
  rules.dropout = kernel.dropout;
  rules.keep_scale = kernel.dropout.keep_scale();
  return rules;
}

/// One bit for each element that a lane holds of accumulators of R tiles.
template <int R>
struct ElementBits {
  std::uint32_t tiles[R];

  __device__ bool operator()(int r, int n, int e) const {
    return (tiles[r] >> (4 * n + e) & 1) != 0;
  }
};

/// The rules for one head, whose scores are held with queries as rows, or keys. Few tiles need to
/// be looked at element by element: that is done in loops, which leave bits, so that it takes none
/// of the registers of the products.
template <class T, bool kKeysAreRows>
struct HeadRules {
  const ScoreRules<T>& all;
  Index sample, head;

  __device__ Index rows() const { return kKeysAreRows ? all.s_kv : all.s; }
  /// The columns that a row sees but for the mask; a row behind the last is as the last.
  __device__ Span columns_of(Index row) const {
    const Index last = row < rows() ? row : rows() - 1;
    return kKeysAreRows ? all.queries_of(last) : all.keys_of(last);
  }
  /// The columns that all of the rows [row, + count) see.
  __device__ Span columns_of_all(Index row, int count) const {
    return all.mask == nullptr ? Span{columns_of(row + count - 1).begin, columns_of(row).end}
                               : Span{};
  }
  /// Which elements of the tile at [row, column] are visible.
  template <int R, int N>
  __device__ ElementBits<R> seen(Index row, Index column) const {
    return bits<R>([&](int r, std::uint32_t& tile) {
#pragma unroll 1
      for (int half = 0; half < 2; ++half) {
        const Index i = row + 16 * r + 8 * half + lane() / 4;
        const Span span = columns_of(i);
#pragma unroll 1
        for (int k = 0; k < 2 * N; ++k) {
          const int n = k / 2, low = k % 2;
          const Index j = column + 8 * n + lane() % 4 * 2 + low;
          const bool sees = span.begin <= j && j < span.end && !(i < rows() && masked(i, j));
          tile |= static_cast<std::uint32_t>(sees) << (4 * n + 2 * half + low);
        }
      }
    });
  }
  /// Which elements of the tile dropout keeps. A Philox call serves 2 queries x 4 keys 16 apart; of
  /// these a lane has the keys where they are columns, the queries where those are.
  template <int R, int N>
  __device__ ElementBits<R> kept(Index row, Index column) const {
    const DropoutMask mask = of_step(all.dropout);
    const SequenceMap& columns = kKeysAreRows ? queries() : all.positions.keys;
    const Index first = columns(column), last = columns(column + 8 * N - 1);
    if (last - first != 8 * N - 1 || first % (kKeysAreRows ? 2 : 8 * N) != 0) {
      return kept_one_by_one<R, N>(mask, row, column);
    }
    return bits<R>([&](int r, std::uint32_t& tile) {
      constexpr int kCalls = kKeysAreRows ? N : 4;  // for a row
#pragma unroll 1
      for (int call = 0; call < 2 * kCalls; ++call) {
        const int half = call / kCalls, place = call % kCalls;
        const Index i = row + 16 * r + 8 * half + lane() / 4;
        const Index j =
            column + lane() % 4 * 2 + (kKeysAreRows ? 8 * place : 8 * (place / 2) + place % 2);
        const Index query = queries()(query_of(i, j));
        const Index key = all.positions.keys(key_of(i, j));
        const Philox::Counter words = Philox::generate(dropout_counter(mask, query, key), mask.key);
        const auto word = [&](int further) {  // constant where a tile has all four
          return words[static_cast<std::size_t>(
              !kKeysAreRows && N == 8 ? further : static_cast<int>(key / 16 % 4) + further)];
        };
        if constexpr (kKeysAreRows) {
          const std::uint32_t both = word(0);
          tile |= keeps(mask, both) << (4 * place + 2 * half);
          tile |= keeps(mask, both >> 16) << (4 * place + 2 * half + 1);
        } else {
          const auto shift = static_cast<unsigned>(query % 2 * 16);
#pragma unroll
          for (int further = 0; further < N / 2; ++further) {
            const int n = 2 * further + place / 2;
            tile |= keeps(mask, word(further) >> shift) << (4 * n + 2 * half + place % 2);
          }
        }
      }
    });
  }
  /// The hidden elements of the tile at [row, column] become `other`.
  template <int N>
  __device__ __forceinline__ void hide(Accumulators<1, N>& x, Index row, Index column,
                                       float other) const {
    if (all.mask != nullptr) {
      for_bits<N>(
          x, column, [&](Index j) { return this->template seen<1, kBitTiles>(row, j); }, other);
      return;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Span span = columns_of(row + 8 * half + lane() / 4);
      const Index first = column + lane() % 4 * 2;
      const int begin = within<8 * N>(span.begin - first), end = within<8 * N>(span.end - first);
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int low = 0; low < 2; ++low) {
          float& element = x.tile[0][n][2 * half + low];
          element = begin <= 8 * n + low && 8 * n + low < end ? element : other;
        }
      }
    }
  }
  /// The elements of the tile that dropout does not keep become 0.
  template <int N>
  __device__ __forceinline__ void drop(Accumulators<1, N>& x, Index row, Index column) const {
    for_bits<N>(
        x, column, [&](Index j) { return this->template kept<1, kBitTiles>(row, j); }, 0.f);
  }
  /// Adds the bias, in units of raw scores, to the tile at [row, column].
  template <int R, int N>
  __device__ __forceinline__ void add_bias(Accumulators<R, N>& scores, Index row,
                                           Index column) const {
    const T* const bias = all.bias + head * all.bias_stride_head;
    const float raw = 1 / all.scale;
    for_elements<R, N>([&](int r, int n, int e, int i, int j) {
      const Index query = query_of(row + i, column + j), key = key_of(row + i, column + j);
      if (query < all.s && key < all.s_kv) {
        const Index distance = key - query + all.s - 1;
        scores.tile[r][n][e] += static_cast<float>(bias[distance * all.bias_stride_distance]) * raw;
      }
    });
  }

 private:
  static constexpr int kBitTiles = 8;  // whose elements fill a word

  /// Where queries stand for dropout. Here and not in a copy, whose pieces would lie on the stack.
  const __device__ SequenceMap& queries() const {
    return all.dropout.index.sequence;
  }
  __device__ Philox::Counter dropout_counter(const DropoutMask& mask, Index query,
                                             Index key) const {
    return attention_dropout_counter(query, key, head + mask.index.column_offset,
                                     mask.index.sample(sample));
  }
  /// By the lower 16 of random bits.
  static __device__ std::uint32_t keeps(const DropoutMask& mask, std::uint32_t random) {
    return (random & 0xffffu) >= mask.threshold ? 1 : 0;
  }
  /// Where columns do not begin with whole calls, or do not follow each other.
  template <int R, int N>
  __device__ ElementBits<R> kept_one_by_one(const DropoutMask& mask, Index row,
                                            Index column) const {
    return bits<R>([&](int r, std::uint32_t& tile) {
#pragma unroll 1
      for (int k = 0; k < 4 * N; ++k) {
        const int n = k / 4, half = k / 2 % 2, low = k % 2;
        const Index i = row + 16 * r + 8 * half + lane() / 4;
        const Index j = column + 8 * n + lane() % 4 * 2 + low;
        const Index query = queries()(query_of(i, j));
        const Index key = all.positions.keys(key_of(i, j));
        const auto random = Philox::generate(dropout_counter(mask, query, key), mask.key);
        tile |= static_cast<std::uint32_t>(attention_dropout_keeps(mask, random, query, key)) << k;
      }
    });
  }

  static __device__ int lane() {
    return static_cast<int>(threadIdx.x % 32);
  }
  /// A column, or the end that it lies behind.
  template <int kColumns>
  static __device__ int within(Index column) {
    return static_cast<int>(column < 0 ? 0 : column < kColumns ? column : kColumns);
  }
  /// Replaces the elements whose bit is not set, a word of bits(column) at a time.
  template <int N, class Bits>
  static __device__ __forceinline__ void for_bits(Accumulators<1, N>& x, Index column, Bits&& bits,
                                                  float other) {
    static_assert(N % kBitTiles == 0);
#pragma unroll
    for (int first = 0; first < N; first += kBitTiles) {
      const ElementBits<1> chosen = bits(column + 8 * first);
      for_elements<1, kBitTiles>([&](int, int n, int e, int, int) {
        float& element = x.tile[0][first + n][e];
        element = chosen(0, n, e) ? element : other;
      });
    }
  }
  static __device__ Index query_of(Index row, Index column) {
    return kKeysAreRows ? column : row;
  }
  static __device__ Index key_of(Index row, Index column) {
    return kKeysAreRows ? row : column;
  }
  /// Whether the mask, if any, hides a key from a query, which are within bounds.
  __device__ bool masked(Index row, Index column) const {
    return all.mask != nullptr && all.mask[sample * all.mask_stride_sample +
                                           query_of(row, column) * all.mask_stride_query +
                                           all.positions.keys(key_of(row, column))] != 0;
  }
  template <int R, class F>
  static __device__ ElementBits<R> bits(F&& f) {
    ElementBits<R> result;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      std::uint32_t tile = 0;
      f(r, tile);
      result.tiles[r] = tile;
    }
    return result;
  }
};

/// How head sizes are cut into tiles: rows stay in shared memory, columns pass by.
template <class T, int D>
struct Tiling {
  static constexpr int kRowBytes = D * static_cast<int>(sizeof(T));
  static constexpr int kWarps = kRowBytes <= 512 ? 4 : 2;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kColumns = kRowBytes <= 256 ? 64 : kRowBytes <= 512 ? 32 : 16;
};

inline constexpr float kLog2e = 1.44269504f;

/// Calls f<D, DV>() with the head sizes of q and v that the kernels are compiled for, at least
/// those given.
template <class F>
void with_head_sizes(Index d, Index dv, F&& f) {
  MPITRON_CHECK(d <= 256 && dv <= 256, d, dv);
  if (d <= 64 && dv <= 64) {
    f.template operator()<64, 64>();
  } else if (d <= 128 && dv <= 128) {
    f.template operator()<128, 128>();
  } else if (d <= 192 && dv <= 128) {
    f.template operator()<192, 128>();
  } else {
    f.template operator()<256, 256>();
  }
}

}  // namespace mpitron::kernels::cuda::attention
