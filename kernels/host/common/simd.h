#pragma once
#include <array>
#include <utility>

#include "kernels/host/common/simd_types.h"
#include "utils/numbers/philox.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "kernels/host/common/simd_avx512.h"
namespace mpitron::kernels::simd {
using namespace avx512;
}
#else
#include "kernels/host/common/simd_generic.h"
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

inline Float abs(Float x) {
  return (Float)((UInt)x & 0x7FFFFFFFu);
}

/// e^x to 2e-7 relative; 0 (subnormal at best) from -104 on down, infinity above 88.72, NaN for NaN
/// and +infinity. exp(0) is exactly 1.
inline Float exp(Float x) {
  x = max(splat(-104.f), x);
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

/// 2^r on [0, 1] to 1e-7 relative, exact for 0: a minimax polynomial.
inline Float power_of_fraction(Float r) {
  Float p = fma(splat(0.00186713007f), r, splat(0.00901703032f));
  p = fma(p, r, splat(0.0557999131f));
  p = fma(p, r, splat(0.240164450f));
  p = fma(p, r, splat(0.693151312f));
  return fma(p, r, splat(1.f));
}

/// 2^x to 1e-7 relative, plus what rounding x to fp32 does; 0 from -150 on down, infinity from 128
/// on, NaN for NaN.
inline Float exp2(Float x) {
  return scale_by_power(power_of_fraction(fraction(x)), x);
}

/// 1 / (1 + e^-x) and 1 - that, both to 3e-7 relative from x = -80 to 104; beyond, 2e-35.
struct Sigmoid {
  Float value, complement;
};
/// Computes the sigmoid from e = e^-x, at most 6e34.
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

/// The tail Phi(-a) of the normal distribution and e^(-a^2 / 2) for a = |x|, at most 14: 1e-6
/// relative, 2e-6 far out (2e-6, 8e-6 without a fused multiply-add).
struct NormalTail {
  Float a, tail, gauss;
};
inline NormalTail normal_tail(Float x) {
  const Float a = min(splat(14.f), abs(x));
  // Phi(-a) = e^(-a^2 / 2) q(a); q is a polynomial in 1 / (1 + 0.35 a)
  const Float t = reciprocal(fma(a, splat(0.35f), splat(1.f))) - 0.584745763f;
  Float q = fma(splat(0.0489424450f), t, splat(-0.00178706940f));
  q = fma(q, t, splat(-0.117059316f));
  q = fma(q, t, splat(-0.00761182468f));
  q = fma(q, t, splat(0.330996677f));
  q = fma(q, t, splat(0.568967961f));
  q = fma(q, t, splat(0.514056039f));
  q = fma(q, t, splat(0.166301296f));
  // 2^(-a^2 log2(e) / 2), whose power would magnify the rounding errors of the exponent
  const Float factor = splat(-0.721347511f), square = a * a, exponent = square * factor;
  const Float r = fma(square, factor, fraction(exponent) - exponent);
  const Float error = fma(a, a, -square);
  const Float gauss = scale_by_power(power_of_fraction(fma(error, factor, r)), exponent);
  return {a, gauss * q, gauss};
}

/// log2 Phi(-a) for a in [0, 14]: Phi(-a) to 1.5e-6 up to 4.2 (1.8e-6 without a fused
/// multiply-add), 2e-5 up to 6, 2e-3 up to 9, too low beyond, where it is below 1e-18. A minimax
/// polynomial, closest where rounding takes most of what is allowed.
inline Float log2_normal_tail(Float a) {
  // The upper eight terms by Estrin's scheme: a chain of ten would be what a row waits for.
  const Float a2 = a * a, a4 = a2 * a2;
  const Float p3 = fma(splat(0.0076204752549529076f), a, splat(-0.053001705557107925f));
  const Float p5 = fma(splat(-8.6322164861485362e-05f), a, splat(-0.00046347916941158473f));
  const Float p7 = fma(splat(-3.2894615742407041e-06f), a, splat(2.6773001081892289e-05f));
  const Float p9 = fma(splat(-5.2957522811425406e-09f), a, splat(2.0517249765816814e-07f));
  Float p = fma(fma(p9, a2, p7), a4, fma(p5, a2, p3));
  p = fma(p, a, splat(-0.4589846134185791f));
  p = fma(p, a, splat(-1.1511427164077759f));
  return fma(p, a, splat(-0.99999898672103882f));
}

/// Halves are added until one lane is left.
inline float lane_sum(Float x) {
  using Half [[gnu::vector_size(32)]] = float;
  using Quarter [[gnu::vector_size(16)]] = float;
  const Half half = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  const Quarter s = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
                    __builtin_shufflevector(half, half, 4, 5, 6, 7);
  return (s[0] + s[2]) + (s[1] + s[3]);
}
/// Adds pairs of lanes. In lanes whose number lacks the bit `distance`: a[lane] + a[lane +
/// distance]; in the others b[lane] + b[lane - distance]. One permutation and one choice, no more.
template <int distance, int... lane>
Float fold(Float a, Float b, std::integer_sequence<int, lane...>) {
  constexpr auto kFrom = [](int j, int at) { return (j & distance) != 0 ? kLanes + at : at; };
  return __builtin_shufflevector(a, b, kFrom(lane, lane)...) +
         __builtin_shufflevector(a, b, kFrom(lane, lane ^ distance)...);
}
/// lane_sum of each of sixteen vectors.
inline Float lane_sums(const Float (&x)[kLanes]) {
  constexpr auto kAll = std::make_integer_sequence<int, kLanes>();
  Float halves[8], quarters[4], pairs[2];
  for (int i = 0; i < 8; ++i) {
    halves[i] = fold<8>(x[i], x[i + 8], kAll);
  }
  for (int i = 0; i < 4; ++i) {
    quarters[i] = fold<4>(halves[i], halves[i + 4], kAll);
  }
  for (int i = 0; i < 2; ++i) {
    pairs[i] = fold<2>(quarters[i], quarters[i + 2], kAll);
  }
  return fold<1>(pairs[0], pairs[1], kAll);
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
/// Inlined at once: as a call, the compiler would drop it for having no effect.
[[gnu::always_inline]] inline void prefetch(const void* p) {
  constexpr int kRead = 0, kSecondLevel = 2;
  __builtin_prefetch(p, kRead, kSecondLevel);
}

/// Distance of fetches. It is long, since the processor's own fetching ahead ends at each page.
inline constexpr std::intptr_t kBytesAhead = 4096;
template <class T>
[[gnu::always_inline]] inline void prefetch_ahead(const T* x) {
  prefetch(reinterpret_cast<const char*>(x) + kBytesAhead);
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
  Float acc0[S] = {}, acc1[S] = {}, acc2[S] = {}, acc3[S] = {};  // one array would stay in memory
  Index i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    f(i, Full{}, acc0);
    f(i + kLanes, Full{}, acc1);
    f(i + 2 * kLanes, Full{}, acc2);
    f(i + 3 * kLanes, Full{}, acc3);
  }
  for (; i + kLanes <= n; i += kLanes) {
    f(i, Full{}, acc0);
  }
  if (i < n) {
    f(i, Part{n - i}, acc1);
  }
  std::array<float, S> sums;
  for (int s = 0; s < S; ++s) {
    sums[static_cast<std::size_t>(s)] = lane_sum((acc0[s] + acc1[s]) + (acc2[s] + acc3[s]));
  }
  return sums;
}

/// Philox4x32-10 of sixteen counters (utils/numbers/philox.h lane by lane).
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
