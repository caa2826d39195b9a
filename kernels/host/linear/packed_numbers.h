#pragma once
#include "kernels/host/linear/packed_rows.h"

#if defined(__AVX512BF16__) && defined(__AVX512BW__)
#include "kernels/host/attention/attention_bf16_avx512.h"
#endif

// Multiplies tiles of rows and blocks whose weights are numbers: fp32, bf16 or fp16, in fp32 by
// fused multiply-adds, input after input.

namespace mpitron::kernels::host::packed {

using simd::Float;
using simd::kLanes;

/// Weights of fp32 or fp16, with rows of fp32.
template <class T>
struct Singles {
  using Rows = NumberRows<float>;
  using Columns = Float;
  using Factor = Float;
  static constexpr Index kInputs = 1;

  static Columns load(const std::uint8_t* block, Index i) {
    return simd::load(reinterpret_cast<const T*>(block) + i * kLanes);
  }
  static Factor factor(const float* x, Index /*left*/) { return simd::splat(*x); }
  static Float add(Float sum, Columns columns, Factor factor) {
    return simd::fma(factor, columns, sum);
  }
};

/// Weights of bf16 in pairs, with rows of fp32: the even input is added first.
struct Pairs {
  using Rows = NumberRows<float>;
  struct Columns {
    Float even, odd;
  };
  struct Factor {
    Float even, odd;
  };
  static constexpr Index kInputs = 2;

  static Columns load(const std::uint8_t* block, Index i) {
    simd::UInt bits;
    __builtin_memcpy(&bits, block + i * kLanes * 2, sizeof bits);
    return {(Float)(bits << 16), (Float)(bits & 0xFFFF0000U)};
  }
  static Factor factor(const float* x, Index left) {
    return {simd::splat(x[0]), simd::splat(left > 1 ? x[1] : 0.F)};
  }
  static Float add(Float sum, const Columns& columns, const Factor& factor) {
    return simd::fma(factor.odd, columns.odd, simd::fma(factor.even, columns.even, sum));
  }
};

#if defined(__AVX512BF16__) && defined(__AVX512BW__)
/// Whether the processor multiplies pairs of bf16.
inline constexpr bool kPairProducts = true;

/// Weights of bf16 in pairs, with rows of bf16, by the processor's dot product of pairs.
struct PairProducts {
  using Rows = NumberRows<BFloat16>;
  using Columns = __m512;
  using Factor = __m512;
  static constexpr Index kInputs = 2;

  static Columns load(const std::uint8_t* block, Index i) {
    return _mm512_loadu_ps(block + i * kLanes * 2);
  }
  static Factor factor(const BFloat16* x, Index left) {
    std::int32_t pair = 0;
    if (left > 1) {
      __builtin_memcpy(&pair, x, sizeof pair);
    } else {
      pair = x->bits;
    }
    return _mm512_castsi512_ps(_mm512_set1_epi32(pair));
  }
  static Float add(Float sum, Columns columns, Factor factor) {
    return (Float)attention::avx512::dot_pairs(columns, factor, sum);
  }
};
#else
inline constexpr bool kPairProducts = false;
using PairProducts = Pairs;
#endif

/// M rows from `row` on times B blocks: sums over all k inputs.
template <class Weights, int M, int B>
[[gnu::always_inline]] inline void multiply_numbers(const typename Weights::Rows& x, Index row,
                                                    Index k, const TileBlocks& blocks,
                                                    Float (&sums)[M][B]) {
  ComingWeights coming = blocks.coming;
  RowsOfTile<std::remove_cvref_t<decltype(*x.data)>, M> rows(x.row(row), x.stride);
  for (Index i = 0; i < k; i += Weights::kInputs, rows.advance(Weights::kInputs)) {
    typename Weights::Columns columns[B];
    for (int b = 0; b < B; ++b) {
      coming.ask();
      columns[b] = Weights::load(blocks.first + b * blocks.bytes, i);
    }
    for (int m = 0; m < M; ++m) {
      const auto factor = Weights::factor(rows.row(m), k - i);
      for (int b = 0; b < B; ++b) {
        sums[m][b] = Weights::add(sums[m][b], columns[b], factor);
      }
    }
  }
}

}  // namespace mpitron::kernels::host::packed
