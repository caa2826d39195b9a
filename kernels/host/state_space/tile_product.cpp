#include "kernels/host/linear/matrix_unit.h"
#include "kernels/host/state_space/small_product.h"

#if defined(__AMX_BF16__) && defined(__AMX_INT8__) && defined(__AVX512BF16__)
#include "kernels/host/attention/attention_simd_avx512.h"
#endif

namespace mpitron::kernels::host {

#if defined(__AMX_BF16__) && defined(__AMX_INT8__) && defined(__AVX512BF16__)

namespace {

namespace vectors = attention::avx512;
using Unit = packed::MatrixUnit;

constexpr Index kTileRows = 16, kTileSteps = 32;  // steps of the reduction: pairs in 16 words
constexpr Index kTileWords = 256;
constexpr Index kRow = 64;              // bytes of a tile's row
constexpr Index kPair = 2 * kTileRows;  // rows or columns that are computed together

/// 32 bf16 nearest to what is given, and 32 nearest to what these lack of it.
struct SplitPairs {
  __m512i high, low = _mm512_setzero_si512();
  bool exact;

  SplitPairs(__m512 first, __m512 second)
      : high(vectors::round_to_bf16(first, second)), exact(is_bf16(_mm512_or_ps(first, second))) {
    if (exact) {  // most of it was work for nothing
      return;
    }
    const auto rest = [](__m512 x, __m256i bits) {
      return x - _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
    };
    low = vectors::round_to_bf16(rest(first, _mm512_castsi512_si256(high)),
                                 rest(second, _mm512_extracti64x4_epi64(high, 1)));
  }

 private:
  static bool is_bf16(__m512 x) {
    constexpr int kLowerHalf = 0xffff;
    return _mm512_test_epi32_mask(_mm512_castps_si512(x), _mm512_set1_epi32(kLowerHalf)) == 0;
  }
};

/// Word i holds element i of the first 16 bf16 and of the other 16.
__m512i interleaved(__m512i halves) {
  alignas(64) static constexpr std::int16_t kOrder[32] = {
      0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return _mm512_permutexvar_epi16(_mm512_load_si512(kOrder), halves);
}

/// A factor in tiles of kTileRows rows (or columns) and kTileSteps steps, once for the nearest bf16
/// of its numbers and once for what these lack.
class SplitFactor {
 public:
  SplitFactor(FactorTiles& tiles, Index blocks, Index steps) : tiles_(tiles), steps_(steps) {
    high_ = tiles.high.room(blocks * steps * kTileWords);
    low_ = tiles.low.room(blocks * steps * kTileWords);
  }
  const float* high(Index block, Index step) const { return high_ + place(block, step); }
  const float* low(Index block, Index step) const { return low_ + place(block, step); }
  bool exact() const { return tiles_.exact; }

  void pack(const LeftFactor<float>& from, Index block, Index step) {
    if (from.column == 1) {
      pack_rows(from, block, step);
    } else {
      pack_columns(from.data, from.column, block, step, true);
    }
  }
  /// The steps of a row lie side by side, as in a tile.
  void pack_rows(const LeftFactor<float>& from, Index block, Index step) {
    const Index at = place(block, step);
    for (Index i = 0; i < kTileRows; ++i) {
      const float* const row = from.data + (block * kTileRows + i) * from.row + step * kTileSteps;
      const SplitPairs pairs(_mm512_loadu_ps(row), _mm512_loadu_ps(row + kTileRows));
      _mm512_store_si512(high_ + at + i * kTileRows, pairs.high);
      _mm512_store_si512(low_ + at + i * kTileRows, pairs.low);
      tiles_.exact &= pairs.exact;
    }
  }
  /// The steps of a row or column lie `stride` apart; each two of them become a word. `turned`: the
  /// words of a row lie side by side, as the left factor has them.
  void pack_columns(const float* from, Index stride, Index block, Index step, bool turned) {
    const Index at = place(block, step);
    __m512 high[kTileRows], low[kTileRows];
    bool exact = true;
    from += step * kTileSteps * stride + block * kTileRows;
    for (Index i = 0; i < kTileRows; ++i, from += 2 * stride) {
      const SplitPairs pairs(_mm512_loadu_ps(from), _mm512_loadu_ps(from + stride));
      high[i] = _mm512_castsi512_ps(interleaved(pairs.high));
      low[i] = _mm512_castsi512_ps(interleaved(pairs.low));
      exact &= pairs.exact;
    }
    tiles_.exact &= exact;
    put(high_ + at, high, turned);
    put(low_ + at, low, turned);
  }

 private:
  Index place(Index block, Index step) const { return (block * steps_ + step) * kTileWords; }
  static void put(float* to, const __m512 (&words)[kTileRows], bool turned) {
    if (turned) {
      vectors::store_transposed(to, kTileRows, words);
      return;
    }
    for (Index i = 0; i < kTileRows; ++i) {
      _mm512_store_ps(to + i * kTileRows, words[i]);
    }
  }

  FactorTiles& tiles_;
  Index steps_;
  float *high_, *low_;
};

/// 32 x 32 numbers of c in four tiles.
class TileSums {
 public:
  TileSums(float* c, Index columns) : c_(c), columns_(columns), bytes_(columns * 4) {}
  void start(bool adds) const {
    if (adds) {
      Unit::load_sums<2, 2>(c_, c_ + kTileRows * columns_, bytes_);
    } else {
      Unit::clear_sums();
    }
  }
  /// Adds the products of two blocks of rows, `next_a` words apart, and two of columns, `next_b`
  /// apart; tiles of a block's steps follow each other.
  static void add(const float* a, Index next_a, const float* b, Index next_b, Index steps) {
    for (Index step = 0; step < steps; ++step, a += kTileWords, b += kTileWords) {
      Unit::load_rows<2>(a, a + next_a, kRow);
      Unit::load_weights<2>(b, b + next_b);
      Unit::multiply_pairs<2, 2>();
    }
  }
  void finish() const { Unit::store_sums<2, 2>(c_, c_ + kTileRows * columns_, bytes_); }

 private:
  float* c_;
  Index columns_, bytes_;
};

/// Steps of a block of rows in which the left factor is not all 0.
struct Steps {
  Index first, last;

  Steps(const ProductSize& size, Index row) : first(0), last(size.k / kTileSteps) {
    const Index own = row / kPair;  // a pair of blocks has as many rows as a step has columns
    static_assert(kPair == kTileSteps);
    if (size.triangle == Triangle::upper) {
      first = std::min(own, last);
    } else if (size.triangle == Triangle::lower) {
      last = std::min(own + 1, last);
    }
  }
};

/// The left factor in `tiles`, where it may be there already.
SplitFactor left_factor(const ProductSize& size, const LeftFactor<float>& a, FactorTiles& tiles) {
  SplitFactor factor(tiles, size.m / kTileRows, size.k / kTileSteps);
  if (!tiles.made) {
    tiles.exact = true;
    for (Index row = 0; row < size.m; row += kTileRows) {
      const Steps steps(size, row);
      for (Index step = steps.first; step < steps.last; ++step) {
        factor.pack(a, row / kTileRows, step);
      }
    }
  }
  return factor;
}
SplitFactor right_factor(const ProductSize& size, const float* b, FactorTiles& tiles) {
  const Index blocks = size.n / kTileRows, steps = size.k / kTileSteps;
  SplitFactor factor(tiles, blocks, steps);
  tiles.exact = true;
  for (Index step = 0; step < steps; ++step) {
    for (Index block = 0; block < blocks; ++block) {
      factor.pack_columns(b, size.n, block, step, false);
    }
  }
  return factor;
}

void multiply(const ProductSize& size, const SplitFactor& a, const SplitFactor& b, bool adds,
              float* c) {
  const Index next = size.k / kTileSteps * kTileWords;
  const bool exact_a = a.exact(), exact_b = b.exact();
  Unit::configure(kTileRows, kRow);
  for (Index row = 0; row < size.m; row += kPair) {
    const Steps steps(size, row);
    const Index end =
        size.triangle == Triangle::lower_result ? std::min(size.n, row + kPair) : size.n;
    const Index i = row / kTileRows, first = steps.first, count = steps.last - first;
    for (Index column = 0; column < end; column += kPair) {
      const Index j = column / kTileRows;
      const TileSums sums(c + row * size.n + column, size.n);
      sums.start(adds);
      sums.add(a.high(i, first), next, b.high(j, first), next, count);
      if (!exact_a) {
        sums.add(a.low(i, first), next, b.high(j, first), next, count);
      }
      if (!exact_b) {
        sums.add(a.high(i, first), next, b.low(j, first), next, count);
      }
      sums.finish();
    }
  }
  Unit::release();
}

}  // namespace

bool multiply_in_tiles(const ProductSize& size, const LeftFactor<float>& a, const float* b,
                       bool adds, float* c) {
  if (size.m % kPair != 0 || size.n % kPair != 0 || size.k % kTileSteps != 0 ||
      std::min({size.m, size.n, size.k}) == 0 || !packed::has_tiles()) {
    return false;
  }
  thread_local FactorTiles own_left, own_right;
  FactorTiles& left = a.kept != nullptr ? *a.kept : own_left;
  const SplitFactor rows = left_factor(size, a, left);
  left.made = a.kept != nullptr;
  multiply(size, rows, right_factor(size, b, own_right), adds, c);
  return true;
}

#else

bool multiply_in_tiles(const ProductSize&, const LeftFactor<float>&, const float*, bool, float*) {
  return false;
}

#endif

}  // namespace mpitron::kernels::host
