#pragma once
// Implements the vector type in AVX-512 intrinsics. attention_simd_portable.h has the same
// functions as loops and defines what they mean.
#include <algorithm>
#include <cstdint>

#include "kernels/host/attention/attention_bf16_avx512.h"
#include "utils/numbers/dtype.h"
#include "utils/numbers/philox.h"
#include "utils/numbers/shape.h"

namespace mpitron::kernels::host::attention::avx512 {

using Vec = __m512;
using Mask16 = __mmask16;

inline Vec zero() {
  return _mm512_setzero_ps();
}
inline Vec broadcast(float x) {
  return _mm512_set1_ps(x);
}
/// `p` is aligned to 64 bytes.
inline Vec load(const float* p) {
  return _mm512_load_ps(p);
}
inline void store(float* p, Vec x) {
  _mm512_store_ps(p, x);
}
inline Vec fma(Vec a, Vec b, Vec c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline Vec fms(Vec a, Vec b, Vec c) {
  return _mm512_fmsub_ps(a, b, c);
}
inline Vec max(Vec a, Vec b) {
  return _mm512_max_ps(a, b);
}
inline float reduce_max(Vec x) {
  return _mm512_reduce_max_ps(x);
}
inline float reduce_add(Vec x) {
  return _mm512_reduce_add_ps(x);
}

/// x - floor(x), and p * 2^floor(x); 0 for x = -inf.
inline Vec fraction(Vec x) {
  return _mm512_reduce_ps(x, 0x09);
}
inline Vec scale_by_power(Vec p, Vec x) {
  return _mm512_scalef_ps(p, x);
}

/// Keeps the lanes of the mask; the others become 0, or `other`.
inline Vec keep(Mask16 mask, Vec x) {
  return _mm512_maskz_mov_ps(mask, x);
}
inline Vec select(Mask16 mask, Vec x, Vec other) {
  return _mm512_mask_mov_ps(other, mask, x);
}
inline Mask16 first_lanes(Index count) {
  return static_cast<Mask16>(
      _bzhi_u32(0xffff, static_cast<unsigned>(std::clamp<Index>(count, 0, 16))));
}
/// Tells which of up to 16 bytes are zero; lanes from `count` on are not.
inline Mask16 zero_bytes(const std::uint8_t* p, Index count) {
  const Mask16 valid = first_lanes(count);
  return _mm_mask_cmpeq_epi8_mask(valid, _mm_maskz_loadu_epi8(valid, p), _mm_setzero_si128());
}

/// Loads 16 elements, or the first `count` of them and zeros.
inline Vec load_as_float(const float* p) {
  return _mm512_loadu_ps(p);
}
inline Vec load_as_float(const BFloat16* p) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
inline Vec load_as_float(const Float16* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline Vec load_as_float(const float* p, Index count) {
  return _mm512_maskz_loadu_ps(first_lanes(count), p);
}
inline Vec load_as_float(const BFloat16* p, Index count) {
  const __m256i bits = _mm256_maskz_loadu_epi16(first_lanes(count), p);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
inline Vec load_as_float(const Float16* p, Index count) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first_lanes(count), p));
}

/// Rounds and stores the first `count` (up to 16) lanes.
inline void store_rounded(float* p, Vec x, Index count) {
  _mm512_mask_storeu_ps(p, first_lanes(count), x);
}
inline void store_rounded(BFloat16* p, Vec x, Index count) {
  _mm256_mask_storeu_epi16(p, first_lanes(count), round_to_bf16(x));
}
inline void store_rounded(Float16* p, Vec x, Index count) {
  _mm256_mask_storeu_epi16(p, first_lanes(count), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
inline Vec round_to_half(Vec x) {
  return _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

/// Loads 16 words of two bf16 as they lie, of which only `count` bf16 are there.
inline Vec load_pairs(const BFloat16* p) {
  return _mm512_loadu_ps(p);
}
inline Vec load_pairs(const BFloat16* p, Index count) {
  const auto mask = static_cast<__mmask32>(_bzhi_u32(0xffffffffu, static_cast<unsigned>(count)));
  return _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(mask, p));
}
/// Rounds 32 values of one row to 16 words: word i holds columns 2 i and 2 i + 1.
inline void store_row_pairs(float* p, Vec first, Vec second) {
  _mm512_storeu_si512(p, round_to_bf16(first, second));
}
/// Rounds 16 columns of two rows to 16 words: word i holds column i of both, as a reduction over
/// rows wants them.
inline void store_column_pairs(float* p, Vec even, Vec odd) {
  alignas(64) static constexpr std::int16_t kOrder[32] = {
      0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  _mm512_store_si512(p,
                     _mm512_permutexvar_epi16(_mm512_load_si512(kOrder), round_to_bf16(even, odd)));
}
/// The words of 32 columns of two rows that are bf16 as they lie: no rounding.
inline void store_interleaved(float* p, Vec even, Vec odd) {
  const __m512i a = _mm512_castps_si512(even), b = _mm512_castps_si512(odd);
  const __m512i low = _mm512_unpacklo_epi16(a, b), high = _mm512_unpackhi_epi16(a, b);
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  _mm512_store_si512(p, _mm512_permutex2var_epi64(low, first, high));
  _mm512_store_si512(p + 16, _mm512_permutex2var_epi64(low, second, high));
}

/// to[j][i] = x[i][j].
inline void store_transposed(float* to, Index stride, const Vec (&x)[16]) {
  const auto low = [](Vec u, Vec v) {
    return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(u), _mm512_castps_pd(v)));
  };
  const auto high = [](Vec u, Vec v) {
    return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(u), _mm512_castps_pd(v)));
  };
  Vec a[16], b[16];  // b[4 g + i]: columns i, i + 4, i + 8, i + 12 of rows 4 g .. 4 g + 3
  for (int i = 0; i < 16; i += 2) {
    a[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    a[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    b[i] = low(a[i], a[i + 2]);
    b[i + 1] = high(a[i], a[i + 2]);
    b[i + 2] = low(a[i + 1], a[i + 3]);
    b[i + 3] = high(a[i + 1], a[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    const Vec p = _mm512_shuffle_f32x4(b[i], b[4 + i], 0x88);
    const Vec q = _mm512_shuffle_f32x4(b[i], b[4 + i], 0xdd);
    const Vec u = _mm512_shuffle_f32x4(b[8 + i], b[12 + i], 0x88);
    const Vec v = _mm512_shuffle_f32x4(b[8 + i], b[12 + i], 0xdd);
    store(to + i * stride, _mm512_shuffle_f32x4(p, u, 0x88));
    store(to + (i + 8) * stride, _mm512_shuffle_f32x4(p, u, 0xdd));
    store(to + (i + 4) * stride, _mm512_shuffle_f32x4(q, v, 0x88));
    store(to + (i + 12) * stride, _mm512_shuffle_f32x4(q, v, 0xdd));
  }
}

inline __m512i splat(std::uint32_t x) {
  return _mm512_set1_epi32(static_cast<int>(x));
}

/// Holds 16 words: the even ones in the lower halves of eight 64-bit lanes, the odd ones in another
/// eight. The upper halves hold anything; they are not read.
struct Words {
  __m512i even, odd;

  explicit Words(std::uint32_t same) : Words(splat(same), splat(same)) {}
  Words(__m512i even, __m512i odd) : even(even), odd(odd) {}
  /// 64-bit products, so words again: their lower halves.
  Words operator*(std::uint32_t factor) const {
    return {_mm512_mul_epu32(even, splat(factor)), _mm512_mul_epu32(odd, splat(factor))};
  }
  Words upper_halves() const {
    return {_mm512_shuffle_epi32(even, _MM_PERM_DDBB), _mm512_shuffle_epi32(odd, _MM_PERM_DDBB)};
  }
  __m512i in_order() const { return _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, _MM_PERM_CCAA); }
};

/// a ^ b ^ c
inline Words sum(const Words& a, const Words& b, std::uint32_t c) {
  constexpr int kXor = 0x96;
  return {_mm512_ternarylogic_epi32(a.even, b.even, splat(c), kXor),
          _mm512_ternarylogic_epi32(a.odd, b.odd, splat(c), kXor)};
}

/// Philox of 3 x 16 counters {counters[j][0] + lane, ...}, which differ in counters[j][1] alone:
/// keep[2 j + h][w], bit lane: half h (0 low) of word w >= threshold. The lanes have three words in
/// common, so the first two rounds have one product of vectors each, for all three. From then on
/// the three take turns: a round of one makes the next wait for 7 cycles, and has work for 3.
inline void philox_keep(const Philox::Counter (&counters)[3], const Philox::Keys& keys,
                        std::uint32_t threshold, Mask16 (&keep)[6][4]) {
  constexpr std::uint32_t kFactor0 = 0xD2511F53u, kFactor1 = 0xCD9E8D57u;
  const auto upper = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const auto lower = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const Philox::Counter& counter = counters[0];
  const __m512i start = splat(counter[0]), even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), none = _mm512_setzero_si512();
  const Words zero(none, none);
  const Words first = Words(_mm512_add_epi32(even, start), _mm512_add_epi32(odd, start)) * kFactor0;
  const Words second = sum(first.upper_halves(), zero, counter[3] ^ keys[0][1]) * kFactor1;
  const std::uint64_t same = std::uint64_t{kFactor1} * counter[2];
  const Words x0 = sum(second.upper_halves(), zero, lower(same) ^ keys[1][0]);
  Words x[3][4] = {{x0, second, zero, zero}, {x0, second, zero, zero}, {x0, second, zero, zero}};
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) {
    const std::uint64_t own = std::uint64_t{kFactor0} * (upper(same) ^ counters[j][1] ^ keys[0][0]);
    x[j][2] = sum(first, zero, upper(own) ^ keys[1][1]);
    x[j][3] = Words(lower(own));
  }
#pragma GCC unroll 8
  for (std::size_t round = 2; round < keys.size(); ++round) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      const Words p0 = x[j][0] * kFactor0, p1 = x[j][2] * kFactor1;
      x[j][0] = sum(p1.upper_halves(), x[j][1], keys[round][0]);
      x[j][2] = sum(p0.upper_halves(), x[j][3], keys[round][1]);
      x[j][1] = p1;
      x[j][3] = p0;
    }
  }
  const __m512i limit = splat(threshold << 16);
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) {
#pragma GCC unroll 4
    for (int w = 0; w < 4; ++w) {
      const __m512i word = x[j][w].in_order();
      // each by itself: the compiler would gather them in a vector
      _store_mask16(&keep[2 * j][w], _mm512_cmpge_epu32_mask(_mm512_slli_epi32(word, 16), limit));
      _store_mask16(&keep[2 * j + 1][w], _mm512_cmpge_epu32_mask(word, limit));
    }
  }
}

}  // namespace mpitron::kernels::host::attention::avx512
