#pragma once
#include <cstdint>

#if defined(__AVX512VNNI__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/host/common/simd_types.h"

// Multiplies bytes four by four, which is how the integer formats of packed weights are summed. All
// sums are exact, so the three variants give the same numbers on every processor.

namespace mpitron::kernels::host::quads {

/// Sixteen features with four weights each, 0 to 255.
using Bytes [[gnu::vector_size(64)]] = std::uint8_t;

inline Bytes load(const std::uint8_t* p) {
  Bytes bytes;
  __builtin_memcpy(&bytes, p, sizeof bytes);
  return bytes;
}

namespace portable {

/// Lane f of the sum gets the products of its four weights with four factors more.
inline simd::Int dot(simd::Int sum, Bytes weights, const std::int8_t* factors) {
  for (int f = 0; f < simd::kLanes; ++f) {
    for (int i = 0; i < 4; ++i) {
      sum[f] += weights[4 * f + i] * factors[i];
    }
  }
  return sum;
}

}  // namespace portable

#if defined(__AVX2__)
namespace avx2 {

/// Eight features. The instruction for bytes would saturate, that for words does not.
inline __m256i dot_half(__m256i weights, __m256i factors) {
  const __m256i low = _mm256_cvtepu8_epi16(_mm256_castsi256_si128(weights));
  const __m256i high = _mm256_cvtepu8_epi16(_mm256_extracti128_si256(weights, 1));
  const __m256i sums =
      _mm256_hadd_epi32(_mm256_madd_epi16(low, factors), _mm256_madd_epi16(high, factors));
  constexpr int kMiddleSwapped = 0xD8;
  return _mm256_permute4x64_epi64(sums, kMiddleSwapped);
}

// The instruction that adds pairs of bytes (vpmaddubsw) saturates at 16 bits; bytes are widened to
// words first instead.
inline simd::Int dot(simd::Int sum, Bytes weights, const std::int8_t* factors) {
  std::int32_t four = 0;
  __builtin_memcpy(&four, factors, sizeof four);
  const __m256i words = _mm256_cvtepi8_epi16(_mm_set1_epi32(four));
  __m256i halves[2];
  __builtin_memcpy(halves, &weights, sizeof halves);
  halves[0] = dot_half(halves[0], words);
  halves[1] = dot_half(halves[1], words);
  simd::Int products;
  __builtin_memcpy(&products, halves, sizeof products);
  return sum + products;
}

}  // namespace avx2
#else
namespace avx2 = portable;
#endif

#if defined(__AVX512VNNI__)
inline simd::Int dot(simd::Int sum, Bytes weights, const std::int8_t* factors) {
  std::int32_t four = 0;
  __builtin_memcpy(&four, factors, sizeof four);
  return (simd::Int)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)weights, _mm512_set1_epi32(four));
}
#else
using avx2::dot;
#endif

}  // namespace mpitron::kernels::host::quads
