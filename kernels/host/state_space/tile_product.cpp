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
  __m512i high, low;

  SplitPairs(__m512 first, __m512 second) : high(vectors::round_to_bf16(first, second)) {
    const auto rest = [](__m512 x, __m256i bits) {
      return x - _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
    };
    low = vectors::round_to_bf16(rest(first, _mm512_castsi512_si256(high)),
                                 rest(second, _mm512_extracti64x4_epi64(high, 1)));
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
  void resize(Index blocks, Index steps) {
    steps_ = steps;
    high_.room(blocks * steps * kTileWords), low_.room(blocks * steps * kTileWords);
    lacking_ = _mm512_setzero_si512();
  }
  const float* high(Index block, Index step) { return high_.data() + place(block, step); }
  const float* low(Index block, Index step) { return low_.data() + place(block, step); }
  bool exact() const { return _mm512_test_epi32_mask(lacking_, lacking_) == 0; }

  /// The steps of a row lie side by side, as in a tile.
  void pack_rows(const LeftFactor<float>& from, Index block, Index step) {
    const Index at = place(block, step);
    for (Index i = 0; i < kTileRows; ++i) {
      const float* const row = from.data + (block * kTileRows + i) * from.row + step * kTileSteps;
      const SplitPairs pairs(_mm512_loadu_ps(row), _mm512_loadu_ps(row + kTileRows));
      put(high_, at + i * kTileRows, pairs.high), put(low_, at + i * kTileRows, pairs.low);
      lacking_ = _mm512_or_si512(lacking_, pairs.low);
    }
  }
  /// The steps of a row or column lie `stride` apart; each two of them become a word. `turned`: the
  /// words of a row lie side by side, as the left factor has them.
  void pack_columns(const float* from, Index stride, Index block, Index step, bool turned) {
    const Index at = place(block, step);
    __m512 high[kTileRows], low[kTileRows];
    from += step * kTileSteps * stride + block * kTileRows;
    for (Index i = 0; i < kTileRows; ++i, from += 2 * stride) {
      const SplitPairs pairs(_mm512_loadu_ps(from), _mm512_loadu_ps(from + stride));
      high[i] = _mm512_castsi512_ps(interleaved(pairs.high));
      low[i] = _mm512_castsi512_ps(interleaved(pairs.low));
      lacking_ = _mm512_or_si512(lacking_, pairs.low);
    }
    if (turned) {
      vectors::store_transposed(high_.data() + at, kTileRows, high);
      vectors::store_transposed(low_.data() + at, kTileRows, low);
      return;
    }
    for (Index i = 0; i < kTileRows; ++i) {
      _mm512_store_ps(high_.data() + at + i * kTileRows, high[i]);
      _mm512_store_ps(low_.data() + at + i * kTileRows, low[i]);
    }
  }

 private:
  Index place(Index block, Index step) const { return (block * steps_ + step) * kTileWords; }
  static void put(Scratch<float>& to, Index at, __m512i words) {
    _mm512_store_si512(to.data() + at, words);
  }

  Index steps_ = 0;
  __m512i lacking_ = _mm512_setzero_si512();
  Scratch<float> high_, low_;
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

struct SplitFactors {
  SplitFactor a, b;
};

void multiply(const ProductSize& size, SplitFactors& factors, bool adds, float* c) {
  const Index steps = size.k / kTileSteps, next = steps * kTileWords;
  const bool exact_a = factors.a.exact(), exact_b = factors.b.exact();
  Unit::configure(kTileRows, kRow);
  for (Index row = 0; row < size.m; row += kPair) {
    const Index first = size.triangle == Triangle::upper ? row / kTileSteps : 0;
    const Index last =
        size.triangle == Triangle::lower ? std::min(steps, (row + kPair) / kTileSteps) : steps;
    const Index end =
        size.triangle == Triangle::lower_result ? std::min(size.n, row + kPair) : size.n;
    const Index i = row / kTileRows, count = std::max<Index>(0, last - first);
    for (Index column = 0; column < end; column += kPair) {
      const Index j = column / kTileRows;
      const TileSums sums(c + row * size.n + column, size.n);
      sums.start(adds);
      sums.add(factors.a.high(i, first), next, factors.b.high(j, first), next, count);
      if (!exact_a) {
        sums.add(factors.a.low(i, first), next, factors.b.high(j, first), next, count);
      }
      if (!exact_b) {
        sums.add(factors.a.high(i, first), next, factors.b.low(j, first), next, count);
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
  thread_local SplitFactors factors;
  const Index steps = size.k / kTileSteps, rows = size.m / kTileRows, columns = size.n / kTileRows;
  factors.a.resize(rows, steps), factors.b.resize(columns, steps);
  for (Index step = 0; step < steps; ++step) {
    for (Index block = 0; block < rows; ++block) {
      if (a.column == 1) {
        factors.a.pack_rows(a, block, step);
      } else {
        factors.a.pack_columns(a.data, a.column, block, step, true);
      }
    }
    for (Index block = 0; block < columns; ++block) {
      factors.b.pack_columns(b, size.n, block, step, false);
    }
  }
  multiply(size, factors, adds, c);
  return true;
}

#else

bool multiply_in_tiles(const ProductSize&, const LeftFactor<float>&, const float*, bool, float*) {
  return false;
}

#endif

}  // namespace mpitron::kernels::host
