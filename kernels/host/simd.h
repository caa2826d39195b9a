#pragma once
#include <array>

#include "kernels/host/simd_types.h"
#include "utils/philox.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "kernels/host/simd_avx512.h"
namespace mpitron::kernels::simd {
using namespace avx512;
}
#else
#include "kernels/host/simd_generic.h"
namespace mpitron::kernels::simd {
using namespace generic;
}
#endif

// Vector arithmetic of the host kernels: 16 fp32 lanes, loads and stores that convert fp32, bf16
// and fp16, elementary functions by own polynomials, sums in a fixed order. No result depends on
// where a row is cut or aligned: the last vector of a row is a masked one, not other code. Stores
// to bf16 round to nearest even; results below 2^-126 may become zero, as processors with a
// conversion instruction do.

namespace mpitron::kernels::simd {

inline Float splat(float x) {
  return x - Float{};  // not x + 0: keeps the sign of zero
}

/// e^x to 2e-7 relative; 0 (subnormal at best) from -104 on down, infinity above 88.72, NaN for NaN
/// and +infinity. exp(0) is exactly 1.
inline Float exp(Float x) {
  x = min(splat(130.f), max(splat(-104.f), x));
  const Float k = round(x * 1.44269504f);
  // ln 2 in two parts: k times the first is exact
  const Float r = fma(k, splat(2.12194440e-4f), fma(k, splat(-0.693359375f), x));
  Float p = fma(splat(0.00138368357f), r, splat(0.00837482407f));
  p = fma(p, r, splat(0.0416682262f));
  p = fma(p, r, splat(0.166664201f));
  p = fma(p, r, splat(0.499999921f));
  p = fma(p, r, splat(1.f));
  p = fma(p, r, splat(1.f));
  return scale_by_power(p, k);
}

/// 2^x to 1e-7 relative, plus what rounding x to fp32 does; 0 from -150 on down, infinity from 128
/// on, NaN for NaN and +infinity.
inline Float exp2(Float x) {
  x = min(splat(200.f), max(splat(-150.f), x));
  const Float k = round(x), r = x - k;
  Float p = fma(splat(0.000153458121f), r, splat(0.00133999312f));
  p = fma(p, r, splat(0.00961848896f));
  p = fma(p, r, splat(0.0555032678f));
  p = fma(p, r, splat(0.240226469f));
  p = fma(p, r, splat(0.693147206f));
  p = fma(p, r, splat(1.f));
  return scale_by_power(p, k);
}

/// 1 / (1 + e^-x) and 1 - that, both to 3e-7 relative from x = -80 to 104; beyond, 2e-35.
struct Sigmoid {
  Float value, complement;
};
/// From e = e^-x, at most 6e34.
inline Sigmoid sigmoid_of_power(Float e) {
  const Float value = reciprocal(1.f + e);
  return {value, e * value};
}
inline Sigmoid sigmoid(Float x) {
  return sigmoid_of_power(exp(min(splat(80.f), -x)));
}

/// tanh x to 2e-7 relative: an odd polynomial up to 0.64, 1 - 2 / (e^2x + 1) from there.
inline Float tanh(Float x) {
  const Float x2 = x * x;
  Float p = fma(splat(-0.00554247083f), x2, splat(0.0204848741f));
  p = fma(p, x2, splat(-0.0536879173f));
  p = fma(p, x2, splat(0.133307109f));
  p = fma(p, x2, splat(-0.333332425f));
  const Float small = fma(p * x2, x, x);
  const Float large = 1.f - 2.f * reciprocal(1.f + exp(min(splat(40.f), x + x)));
  return x2 < 0.41f ? small : large;
}

/// The normal distribution function and its density: 5e-7 relative, the left tail included, down to
/// x = -14 (without a fused multiply-add the far tail has 5e-6).
struct Normal {
  Float cdf, density;
};
inline Normal normal_cdf(Float x) {
  const Float a = min(splat(14.f), x < 0.f ? -x : x);
  // cdf(-a) = e^(-a^2 / 2) q(a); q is a polynomial in t = 1 / (1 + 0.3 a) about 1/2
  const Float t = reciprocal(fma(a, splat(0.3f), splat(1.f))) - 0.5f;
  Float q = fma(splat(0.0384073867f), t, splat(-0.0156778764f));
  q = fma(q, t, splat(-0.0947725874f));
  q = fma(q, t, splat(-0.00999674967f));
  q = fma(q, t, splat(0.236547490f));
  q = fma(q, t, splat(0.457249571f));
  q = fma(q, t, splat(0.502259898f));
  q = fma(q, t, splat(0.386550028f));
  q = fma(q, t, splat(0.110985301f));
  // the rounding error of a^2 would be magnified by the exponential
  const Float square = a * a, error = fma(a, a, -square);
  const Float e = exp(-0.5f * square);
  const Float gauss = fma(-0.5f * error, e, e);
  const Float tail = gauss * q;
  return {x < 0.f ? tail : 1.f - tail, gauss * 0.398942280f};
}

inline float lane_sum(Float x) {
  float s[8];
  for (int i = 0; i < 8; ++i) {
    s[i] = x[i] + x[i + 8];
  }
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}
inline float lane_max(Float x) {
  float m = x[0];
  for (int i = 1; i < kLanes; ++i) {
    m = x[i] > m ? x[i] : m;
  }
  return m;
}

/// Asks for a line of what is read next, into L2: L1 belongs to what is read now. Any address will
/// do.
inline void prefetch(const void* p) {
  constexpr int kRead = 0, kSecondLevel = 2;
  __builtin_prefetch(p, kRead, kSecondLevel);
}

/// Calls f(i, lanes) for i = 0, 16, 32, ... below n; lanes is Full, the last one Part if n is not a
/// multiple of 16.
template <class F>
[[gnu::always_inline]] inline void for_lanes(Index n, F&& f) {
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    f(i, Full{});
  }
  if (i < n) {
    f(i, Part{n - i});
  }
}

/// S sums over a row in a fixed order: f(i, lanes, acc) adds to acc[0 .. S); what it adds outside
/// the lanes must be zero. Four chains per sum hide the latency of the additions.
template <int S, class F>
[[gnu::always_inline]] inline std::array<float, S> row_sums(Index n, F&& f) {
  Float acc[4][S] = {};
  Index i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int u = 0; u < 4; ++u) {
      f(i + u * kLanes, Full{}, acc[u]);
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
    f(i, Full{}, acc[0]);
  }
  if (i < n) {
    f(i, Part{n - i}, acc[1]);
  }
  std::array<float, S> sums;
  for (int s = 0; s < S; ++s) {
    sums[static_cast<std::size_t>(s)] = lane_sum((acc[0][s] + acc[1][s]) + (acc[2][s] + acc[3][s]));
  }
  return sums;
}

/// Philox4x32-10 of sixteen counters (utils/philox.h lane by lane).
inline std::array<UInt, 4> philox(std::array<UInt, 4> c, Philox::Key k) {
  for (int round = 0; round < 10; ++round) {
    const UInt high0 = multiply_high(c[0], 0xD2511F53u), low0 = c[0] * 0xD2511F53u;
    const UInt high1 = multiply_high(c[2], 0xCD9E8D57u), low1 = c[2] * 0xCD9E8D57u;
    c = {high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

}  // namespace mpitron::kernels::simd
