#pragma once
#include <bit>
#include <cmath>
#include <cstring>

#ifdef __FMA__
#include <immintrin.h>
#endif

#include "kernels/host/common/simd_types.h"

// The primitive operations of simd.h in the compiler's vector extensions: any processor, loops that
// the compiler turns into its widest vectors.

namespace mpitron::kernels::simd::generic {

/// One rounding where the processor multiplies and adds in one instruction.
inline Float fma(Float a, Float b, Float c) {
#ifdef __FMA__
  // By name: a compiler that fuses a * b + c by itself may take a product within c instead.
  struct Halves {
    __m256 low, high;
  };
  const auto x = std::bit_cast<Halves>(a), y = std::bit_cast<Halves>(b),
             z = std::bit_cast<Halves>(c);
  return std::bit_cast<Float>(
      Halves{_mm256_fmadd_ps(x.low, y.low, z.low), _mm256_fmadd_ps(x.high, y.high, z.high)});
#else
  return a * b + c;
#endif
}
/// b where either is NaN.
inline Float min(Float a, Float b) {
  return a < b ? a : b;
}
inline Float max(Float a, Float b) {
  return a > b ? a : b;
}
inline Float sqrt(Float x) {
  for (int i = 0; i < kLanes; ++i) {
    x[i] = std::sqrt(x[i]);
  }
  return x;
}
/// Rounds to the nearest integer, |x| < 2^22.
inline Float round(Float x) {
  constexpr float kMagic = 12582912.f;  // 1.5 * 2^23: the fraction falls off
  return (x + kMagic) - kMagic;
}
/// Clamps to [-250, 250]; NaN stays.
inline Float clamp_exponent(Float x) {
  const Float bound = Float{} + 250.f;
  return min(bound, max(-bound, x));
}
/// The largest integer up to x, |x| < 2^22.
inline Float floor(Float x) {
  const Float nearest = round(x);
  return nearest > x ? nearest - 1.f : nearest;
}
/// x - floor(x) for |x| < 250; 0 for infinities.
inline Float fraction(Float x) {
  const Float bounded = clamp_exponent(x);
  return bounded - floor(bounded);
}
/// x * 2^floor(k) for |k| <= 250; beyond, as for 250.
inline Float scale_by_power(Float x, Float k) {
  const Int whole = __builtin_convertvector(floor(clamp_exponent(k)), Int);
  const Int half = whole >> 1;
  return x * (Float)((half + 127) << 23) * (Float)((whole - half + 127) << 23);
}
inline Float reciprocal(Float x) {
  return 1.f / x;
}
/// High 32 bits of the 64-bit products.
inline UInt multiply_high(UInt a, std::uint32_t factor) {
  UInt high;
  for (int i = 0; i < kLanes; ++i) {
    high[i] = static_cast<std::uint32_t>((std::uint64_t{a[i]} * factor) >> 32);
  }
  return high;
}

template <class T>
inline Float load(const T* p, Full = {}) {
  Float x;
  for (int i = 0; i < kLanes; ++i) {
    x[i] = static_cast<float>(p[i]);
  }
  return x;
}
template <class T>
inline Float load(const T* p, Part lanes) {
  Float x{};
  for (Index i = 0; i < lanes.count; ++i) {
    x[i] = static_cast<float>(p[i]);
  }
  return x;
}
template <class T>
inline void store(T* p, Float x, Full = {}) {
  for (int i = 0; i < kLanes; ++i) {
    p[i] = T(x[i]);
  }
}
template <class T>
inline void store(T* p, Float x, Part lanes) {
  for (Index i = 0; i < lanes.count; ++i) {
    p[i] = T(x[i]);
  }
}

/// No stores past the caches here.
template <class T>
inline void stream(T* p, Float x) {
  store(p, x);
}
inline void stream_fence() {}

/// Whether a lane of a comparison's result is true.
inline bool any(Int mask) {
  std::int32_t result = 0;
  for (int i = 0; i < kLanes; ++i) {
    result |= mask[i];
  }
  return result != 0;
}

/// Lane i gets x[2 i]^2 + x[2 i + 1]^2 more.
inline Float add_pair_squares(const BFloat16* x, Float sum) {
  for (int i = 0; i < kLanes; ++i) {
    const auto low = static_cast<float>(x[2 * i]), high = static_cast<float>(x[2 * i + 1]);
    sum[i] = high * high + (low * low + sum[i]);
  }
  return sum;
}

/// Zero in the lanes outside.
inline Float inside(Float x, Full) {
  return x;
}
inline Float inside(Float x, Part lanes) {
  for (Index i = lanes.count; i < kLanes; ++i) {
    x[i] = 0;
  }
  return x;
}

}  // namespace mpitron::kernels::simd::generic
