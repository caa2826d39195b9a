#pragma once
#include <limits>

#include "kernels/attention/attention_views.h"
#include "kernels/cuda/attention/attention_heads.cuh"

// What decides about the scores of the attention kernels besides q and k. Rows and columns are
// counted in 32 bits: these kernels have no register to spare.
namespace mpitron::kernels::cuda::attention {

/// Columns [begin, end) of a row.
struct Span {
  int begin, end;

  __device__ bool holds(int column, int count) const {
    return begin <= column && column + count <= end;
  }
};

/// What decides about the scores of all heads.
template <class T>
struct ScoreRules {
  int s, s_kv, heads;
  bool causal;
  Index window;
  AttentionPositions positions;
  const std::uint8_t* mask;
  Index mask_stride_sample, mask_stride_query;  // 0: the same for all
  const T* bias;
  Index bias_stride_head;
  int bias_stride_distance;
  float scale, bias_scale;  // of scores; of the bias of raw ones
  float softcap;            // bound of scores; 0: none
  DropoutMask dropout;
  float keep_scale;  // of the dropout

  /// The keys that a query sees but for the mask; neither end falls as the query rises.
  __device__ Span keys_of(int query) const {
    const Index position = positions.queries(query);
    return {window < 0 ? 0 : before(positions.keys, position - window, s_kv),
            causal ? before(positions.keys, position + 1, s_kv) : s_kv};
  }
  /// The queries that see a key but for the mask.
  __device__ Span queries_of(int key) const {
    const Index position = positions.keys(key);
    return {causal ? before(positions.queries, position, s) : 0,
            window < 0 ? s : before(positions.queries, position + window + 1, s)};
  }

 private:
  /// How many of the first `count` stand before the position.
  static __device__ int before(const SequenceMap& map, Index position, int count) {
    // In registers: a reference that may be to a parameter or else to a local puts both on a stack.
    const SequenceMap own{map.split, {map.offset[0], map.offset[1]}};
    const Index all = own.count_before(position);
    return static_cast<int>(all < 0 ? 0 : all < count ? all : count);
  }
};

/// A number of which `times` are counted in 32 bits.
inline int in_32_bits(Index number, Index times = 2) {
  MPITRON_CHECK(number * times <= std::numeric_limits<int>::max(), number, times);
  return static_cast<int>(number);
}

/// Gathers what decides whether a query sees a key, in numbers of 32 bits: positions, window, mask,
/// dropout.
template <class T, class Kernel>
ScoreRules<T> score_rules(const Kernel& kernel) {
  const Index s = kernel.q.size(0), s_kv = kernel.k.size(0);
  ScoreRules<T> rules{};
  rules.s = in_32_bits(s);
  rules.s_kv = in_32_bits(s_kv);
  rules.heads = static_cast<int>(kernel.lse.size(1));
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
    rules.bias_stride_distance = in_32_bits(kernel.bias.stride(1), s + s_kv);
  }
  rules.scale = kernel.scale;
  rules.bias_scale = 1 / kernel.scale;
  rules.softcap = kernel.softcap;
  rules.dropout = kernel.dropout;
  rules.keep_scale = kernel.dropout.keep_scale();
  return rules;
}

/// One bit for each element that a lane holds of accumulators of R tiles.
template <int R>
struct ElementBits {
  std::uint32_t tiles[R];

  /// The elements of tiles [first, + kTiles) whose bit is not set become `other`.
  template <int kTiles, int N>
  __device__ __forceinline__ void select(Accumulators<R, N>& x, int first, float other) const {
    for_elements<R, kTiles>([&](int r, int n, int e, int, int) {
      float& element = x.tile[r][first + n][e];
      element = (tiles[r] >> (4 * n + e) & 1) != 0 ? element : other;
    });
  }
};

/// The rules for one head, whose scores are held with queries as rows, or keys. Few tiles need to
/// be looked at element by element: that is done in loops, which leave bits, so that it takes none
/// of the registers of the products.
template <class T, bool kKeysAreRows>
struct HeadRules {
  const ScoreRules<T>& all;
  int sample, head;

  __device__ int rows() const { return kKeysAreRows ? all.s_kv : all.s; }
  /// The columns that a row sees but for the mask; a row behind the last is as the last.
  __device__ Span columns_of(int row) const {
    const int last = row < rows() ? row : rows() - 1;
    return kKeysAreRows ? all.queries_of(last) : all.keys_of(last);
  }
  /// The columns that all of the rows [row, + count) see.
  __device__ Span columns_of_all(int row, int count) const {
    return all.mask == nullptr ? Span{columns_of(row + count - 1).begin, columns_of(row).end}
                               : Span{};
  }
  /// Which elements of the tile at [row, column] are visible.
  template <int R, int N>
  __device__ ElementBits<R> seen(int row, int column) const {
    return bits<R>([&](int r, std::uint32_t& tile) {
#pragma unroll 1
      for (int half = 0; half < 2; ++half) {
        const int i = row + 16 * r + 8 * half + lane() / 4;
        const Span span = columns_of(i);
#pragma unroll 1
        for (int k = 0; k < 2 * N; ++k) {
          const int n = k / 2, low = k % 2;
          const int j = column + 8 * n + lane() % 4 * 2 + low;
          const bool sees = span.begin <= j && j < span.end && !(i < rows() && masked(i, j));
          tile |= static_cast<std::uint32_t>(sees) << (4 * n + 2 * half + low);
        }
      }
    });
  }
  /// Which elements of the tile dropout keeps. A Philox call serves 2 queries x 4 keys 16 apart; of
  /// these a lane has the keys where they are columns, the queries where those are.
  template <int R, int N>
  __device__ ElementBits<R> kept(int row, int column) const {
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
        const int i = row + 16 * r + 8 * half + lane() / 4;
        const int j =
            column + lane() % 4 * 2 + (kKeysAreRows ? 8 * place : 8 * (place / 2) + place % 2);
        const Index query = queries()(query_of(i, j));
        const Index key = all.positions.keys(key_of(i, j));
        const Philox::Counter words = Philox::generate(dropout_counter(mask, query, key), mask.key);
        const auto word = [&](int further) {  // constant where a tile has all four
          return word_of(words, !kKeysAreRows && N == 8 ? further : column_word(key) + further);
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
  template <int R, int N>
  __device__ __forceinline__ void hide(Accumulators<R, N>& x, int row, int column,
                                       float other) const {
    if (all.mask != nullptr) {
      for_bits(
          x, column, [&](int j) { return this->template seen<R, kBitTiles<N>>(row, j); }, other);
      return;
    }
#pragma unroll
    for (int block = 0; block < 2 * R; ++block) {
      const Span span = columns_of(row + 8 * block + lane() / 4);
      const int first = column + lane() % 4 * 2;
      const int begin = span.begin - first, end = span.end - first;
#pragma unroll
      for (int n = 0; n < N; ++n) {
#pragma unroll
        for (int low = 0; low < 2; ++low) {
          float& element = x.tile[block / 2][n][block % 2 * 2 + low];
          element = begin <= 8 * n + low && 8 * n + low < end ? element : other;
        }
      }
    }
  }
  /// The elements of the tile that dropout does not keep become 0.
  template <int R, int N>
  __device__ __forceinline__ void drop(Accumulators<R, N>& x, int row, int column) const {
    for_bits(
        x, column, [&](int j) { return this->template kept<R, kBitTiles<N>>(row, j); }, 0.f);
  }
  /// Bounds raw scores: scale x becomes softcap tanh(scale x / softcap).
  template <int R, int N>
  __device__ __forceinline__ void bound(Accumulators<R, N>& scores) const {
    const float inward = all.scale / all.softcap, outward = all.softcap / all.scale;
    for_elements<R, N>([&](int r, int n, int e, int, int) {
      scores.tile[r][n][e] = outward * tanhf(inward * scores.tile[r][n][e]);
    });
  }
  /// Adds the bias, in units of raw scores, to the tile at [row, column]. Elements of a diagonal
  /// have the same: a lane has some of each diagonal of its 8 x 8 blocks. Outside of the matrix,
  /// where scores are hidden later, it is that of the nearest distance.
  template <int R, int N>
  __device__ __forceinline__ void add_bias(Accumulators<R, N>& scores, int row, int column) const {
    const T* const bias = all.bias + head * all.bias_stride_head;
    const int i = row + lane() / 4, j = column + lane() % 4 * 2, last = all.s + all.s_kv - 2;
    const int first = key_of(i, j) - query_of(i, j) + all.s - 1;
#pragma unroll
    for (int diagonal = 1 - 2 * R; diagonal < N; ++diagonal) {
#pragma unroll
      for (int low = 0; low < 2; ++low) {
        const int further = 8 * diagonal + low;
        const int distance = max(0, min(first + (kKeysAreRows ? -further : further), last));
        const float value =
            static_cast<float>(bias[distance * all.bias_stride_distance]) * all.bias_scale;
#pragma unroll
        for (int block = 0; block < 2 * R; ++block) {
          const int n = diagonal + block;
          if (0 <= n && n < N) {
            scores.tile[block / 2][n][block % 2 * 2 + low] += value;
          }
        }
      }
    }
  }

 private:
  template <int N>
  static constexpr int kBitTiles = N < 8 ? N : 8;  // whose elements a word has bits for

  /// Where queries stand for dropout. Here and not in a copy, whose pieces would lie on the stack.
  const __device__ SequenceMap& queries() const {
    return all.dropout.index.sequence;
  }
  __device__ Philox::Counter dropout_counter(const DropoutMask& mask, Index query,
                                             Index key) const {
    return attention_dropout_counter(query, key, head + mask.index.column_offset,
                                     mask.index.sample(sample));
  }
  /// Which word of a Philox call is a key's.
  static __device__ int column_word(Index key) {
    return static_cast<int>(static_cast<std::uint32_t>(key) / 16 % 4);
  }
  /// words[i], from registers also where i is no constant.
  static __device__ std::uint32_t word_of(const Philox::Counter& words, int i) {
    const std::uint32_t first = i % 2 == 0 ? words[0] : words[1];
    const std::uint32_t second = i % 2 == 0 ? words[2] : words[3];
    return i < 2 ? first : second;
  }
  /// By the lower 16 of random bits.
  static __device__ std::uint32_t keeps(const DropoutMask& mask, std::uint32_t random) {
    return (random & 0xffffu) >= mask.threshold ? 1 : 0;
  }
  /// Where columns do not begin with whole calls, or do not follow each other.
  template <int R, int N>
  __device__ ElementBits<R> kept_one_by_one(const DropoutMask& mask, int row, int column) const {
    return bits<R>([&](int r, std::uint32_t& tile) {
#pragma unroll 1
      for (int k = 0; k < 4 * N; ++k) {
        const int n = k / 4, half = k / 2 % 2, low = k % 2;
        const int i = row + 16 * r + 8 * half + lane() / 4;
        const int j = column + 8 * n + lane() % 4 * 2 + low;
        const Index query = queries()(query_of(i, j));
        const Index key = all.positions.keys(key_of(i, j));
        const Philox::Counter words = Philox::generate(dropout_counter(mask, query, key), mask.key);
        const auto shift = static_cast<unsigned>(query % 2 * 16);
        tile |= keeps(mask, word_of(words, column_word(key)) >> shift) << k;
      }
    });
  }

  static __device__ int lane() {
    return static_cast<int>(threadIdx.x % 32);
  }
  /// Replaces the elements whose bit is not set, a word of bits(column) at a time.
  template <int R, int N, class Bits>
  static __device__ __forceinline__ void for_bits(Accumulators<R, N>& x, int column, Bits&& bits,
                                                  float other) {
    static_assert(N % kBitTiles<N> == 0);
#pragma unroll
    for (int first = 0; first < N; first += kBitTiles<N>) {
      bits(column + 8 * first).template select<kBitTiles<N>>(x, first, other);
    }
  }
  static __device__ int query_of(int row, int column) {
    return kKeysAreRows ? column : row;
  }
  static __device__ int key_of(int row, int column) {
    return kKeysAreRows ? row : column;
  }
  /// Whether the mask, if any, hides a key from a query, which are within bounds.
  __device__ bool masked(int row, int column) const {
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
