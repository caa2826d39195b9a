#pragma once
// Switches a warning off: GCC 12 takes the undefined pass-through operands of its own intrinsics
// for a mistake (bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

// bf16 arithmetic in AVX-512: instructions where the machine has them (AVX512_BF16), else by
// shifts.
namespace mpitron::kernels::host::attention::avx512 {

#if defined(__AVX512BF16__)

/// c + a.low * b.low + a.high * b.high, lane by lane.
inline __m512 dot_pairs(__m512 a, __m512 b, __m512 c) {
  return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
}

/// 32 bf16: `low` in the first 16, `high` in the others.
inline __m512i round_to_bf16(__m512 low, __m512 high) {
  return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

inline __m256i round_to_bf16(__m512 x) {
  return (__m256i)_mm512_cvtneps_pbh(x);
}

#else

inline __m512 dot_pairs(__m512 a, __m512 b, __m512 c) {
  const __m512i high = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  const auto low_of = [](__m512 x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(x), 16));
  };
  const auto high_of = [&](__m512 x) {
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x), high));
  };
  return _mm512_fmadd_ps(high_of(a), high_of(b), _mm512_fmadd_ps(low_of(a), low_of(b), c));
}

inline __m256i round_to_bf16(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const __m512i kept = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(kept, 16));
}

inline __m512i round_to_bf16(__m512 low, __m512 high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(round_to_bf16(low)), round_to_bf16(high), 1);
}

#endif

}  // namespace mpitron::kernels::host::attention::avx512
