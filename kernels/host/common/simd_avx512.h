#pragma once
// GCC 12 takes the undefined pass-through operands of its own intrinsics for a mistake (bug
// 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include "kernels/host/common/simd_types.h"

// The primitive operations of simd.h in AVX-512 (F, BW, DQ, VL; BF16 where the compiler has it).

namespace mpitron::kernels::simd::avx512 {

inline __mmask16 mask_of(Part lanes) {
  return static_cast<__mmask16>((1u << lanes.count) - 1u);
}

inline Float fma(Float a, Float b, Float c) {
  return _mm512_fmadd_ps(a, b, c);
}
/// b where either is NaN.
inline Float min(Float a, Float b) {
  return _mm512_min_ps(a, b);
}
inline Float max(Float a, Float b) {
  return _mm512_max_ps(a, b);
}
inline Float sqrt(Float x) {
  return _mm512_sqrt_ps(x);
}
inline Float round(Float x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// x - floor(x); 0 for infinities.
inline Float fraction(Float x) {
  return _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
/// x * 2^floor(k).
inline Float scale_by_power(Float x, Float k) {
  return _mm512_scalef_ps(x, k);
}
/// 1 / x to 1e-7 for normal x and 1 / x: one Newton step.
inline Float reciprocal(Float x) {
  const __m512 y = _mm512_rcp14_ps(x);
  return _mm512_fmadd_ps(_mm512_fnmadd_ps(x, y, _mm512_set1_ps(1.f)), y, y);
}
/// High 32 bits of the 64-bit products.
inline UInt multiply_high(UInt a, std::uint32_t factor) {
  const __m512i m = _mm512_set1_epi32(static_cast<int>(factor)), x = (__m512i)a;
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), m);
  return (UInt)_mm512_mask_shuffle_epi32(odd, 0x5555, _mm512_mul_epu32(x, m), _MM_PERM_CDAB);
}

#ifdef __AVX512BF16__
inline __m256i narrow(Float x, BFloat16) {
  return (__m256i)_mm512_cvtneps_pbh(x);
}
#else
inline __m256i narrow(Float x, BFloat16) {
  const __m512i u = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd);
  rounded = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), u,
                                 _mm512_set1_epi32(0x400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
}
#endif
inline __m256i narrow(Float x, Float16) {
  return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// One permutation that puts every word into an upper half: widening and shifting would be two.
inline Float widen(__m256i bits, BFloat16) {
  alignas(64) static constexpr std::uint16_t kSource[32] = {0, 0,  0, 1,  0, 2,  0, 3,  0, 4, 0,
                                                            5, 0,  6, 0,  7, 0,  8, 0,  9, 0, 10,
                                                            0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
  constexpr __mmask32 kUpperHalves = 0xaaaaaaaau;
  return _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(
      kUpperHalves, _mm512_load_si512(kSource), _mm512_castsi256_si512(bits)));
}
inline Float widen(__m256i bits, Float16) {
  return _mm512_cvtph_ps(bits);
}

inline Float load(const float* p, Full = {}) {
  return _mm512_loadu_ps(p);
}
inline Float load(const float* p, Part lanes) {
  return _mm512_maskz_loadu_ps(mask_of(lanes), p);
}
template <class T>
inline Float load(const T* p, Full = {}) {
  return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), T{});
}
template <class T>
inline Float load(const T* p, Part lanes) {
  return widen(_mm256_maskz_loadu_epi16(mask_of(lanes), p), T{});
}

inline void store(float* p, Float x, Full = {}) {
  _mm512_storeu_ps(p, x);
}
inline void store(float* p, Float x, Part lanes) {
  _mm512_mask_storeu_ps(p, mask_of(lanes), x);
}
template <class T>
inline void store(T* p, Float x, Full = {}) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow(x, T{}));
}
template <class T>
inline void store(T* p, Float x, Part lanes) {
  _mm256_mask_storeu_epi16(p, mask_of(lanes), narrow(x, T{}));
}

/// Stores past the caches; p is aligned to 64 bytes (32 for 16-bit types). stream_fence() ends a
/// sequence of them.
inline void stream(float* p, Float x) {
  _mm512_stream_ps(p, x);
}
template <class T>
inline void stream(T* p, Float x) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), narrow(x, T{}));
}
inline void stream_fence() {
  _mm_sfence();
}

/// Whether a lane of a comparison's result is true.
inline bool any(Int mask) {
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
}

/// Lane i gets x[2 i]^2 + x[2 i + 1]^2 more, where no square is below 2^-126: smaller ones may
/// count as zero.
inline Float add_pair_squares(const BFloat16* x, Float sum) {
#ifdef __AVX512BF16__
  const auto pairs = (__m512bh)_mm512_loadu_si512(x);
  return _mm512_dpbf16_ps(sum, pairs, pairs);
#else
  const __m512i pairs = _mm512_loadu_si512(x);
  const Float low = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
  const Float high = _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(~0xFFFF)));
  return fma(high, high, fma(low, low, sum));
#endif
}

/// Zero in the lanes outside.
inline Float inside(Float x, Full) {
  return x;
}
inline Float inside(Float x, Part lanes) {
  return _mm512_maskz_mov_ps(mask_of(lanes), x);
}

}  // namespace mpitron::kernels::simd::avx512
