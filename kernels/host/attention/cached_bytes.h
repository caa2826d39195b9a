#pragma once
#include "kernels/attention/cached_numbers.h"
#include "kernels/host/common/simd.h"

// Reads numbers of a cache of keys and values as fp32, sixteen at a time: those of 8 bits without
// their rows' scales, and the scales of sixteen rows. With AVX-512 a byte's exponent and fraction
// are moved to where fp16 has them, whose conversion is one instruction.

namespace mpitron::kernels::host::cached {

using simd::Float;
using simd::Int;
using simd::kLanes;

template <class T, class Lanes = simd::Full>
Float numbers(const T* x, Lanes lanes = {}) {
  return simd::load(x, lanes);
}

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

inline __m128i load_bytes(const void* x, simd::Full = {}) {
  return _mm_loadu_si128(static_cast<const __m128i*>(x));
}
inline __m128i load_bytes(const void* x, simd::Part lanes) {
  return _mm_maskz_loadu_epi8(simd::avx512::mask_of(lanes), x);
}
/// The sign comes to the two upper bits, of which the second one is cleared.
template <class Lanes = simd::Full>
Float numbers(const CachedByte* x, Lanes lanes = {}) {
  const __m256i words = _mm256_slli_epi16(_mm256_cvtepi8_epi16(load_bytes(x, lanes)), 7);
  const auto kept = static_cast<short>(0xbf80);
  return _mm512_cvtph_ps(_mm256_and_si256(words, _mm256_set1_epi16(kept)));
}
inline Int widened(const std::uint8_t* x, simd::Part lanes) {
  return (Int)_mm512_cvtepu8_epi32(load_bytes(x, lanes));
}

#else

template <class Lanes = simd::Full>
Float numbers(const CachedByte* x, Lanes lanes = {}) {
  Float wide{};
  for (Index i = 0; i < lanes.count; ++i) {
    wide[i] = static_cast<float>(x[i]);
  }
  return wide;
}
inline Int widened(const std::uint8_t* x, simd::Part lanes) {
  Int wide{};
  for (Index i = 0; i < lanes.count; ++i) {
    wide[i] = x[i];
  }
  return wide;
}

#endif

/// Factors of up to sixteen rows; 0 beyond.
inline Float factors(const std::uint8_t* scales, Index count) {
  const Int bytes = widened(scales, simd::Part{count});
  return (Float)(bytes == kNanScale ? Int{} + 0x7fc00000 : bytes << 23);
}

}  // namespace mpitron::kernels::host::cached
