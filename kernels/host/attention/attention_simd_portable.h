#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "utils/numbers/dtype.h"
#include "utils/numbers/philox.h"
#include "utils/numbers/shape.h"

// Implements the operations of attention_simd_avx512.h as plain loops, for every other machine.
namespace mpitron::kernels::host::attention::portable {

struct alignas(64) Vec {
  float lane[16];
};
using Mask16 = std::uint16_t;

/// f(lane) in every lane.
template <class F>
[[gnu::always_inline]] inline Vec lanes(F&& f) {
  Vec out;
#pragma omp simd
  for (int i = 0; i < 16; ++i) {
    out.lane[i] = f(i);
  }
  return out;
}

inline Vec zero() {
  return lanes([](int) { return 0.f; });
}
inline Vec broadcast(float x) {
  return lanes([=](int) { return x; });
}
inline Vec load(const float* p) {
  return lanes([=](int i) { return p[i]; });
}
inline void store(float* p, const Vec& x) {
#pragma omp simd
  for (int i = 0; i < 16; ++i) {
    p[i] = x.lane[i];
  }
}
inline Vec operator+(const Vec& a, const Vec& b) {
  return lanes([&](int i) { return a.lane[i] + b.lane[i]; });
}
inline Vec operator-(const Vec& a, const Vec& b) {
  return lanes([&](int i) { return a.lane[i] - b.lane[i]; });
}
inline Vec operator*(const Vec& a, const Vec& b) {
  return lanes([&](int i) { return a.lane[i] * b.lane[i]; });
}
inline Vec fma(const Vec& a, const Vec& b, const Vec& c) {
  return lanes([&](int i) { return a.lane[i] * b.lane[i] + c.lane[i]; });
}
inline Vec fms(const Vec& a, const Vec& b, const Vec& c) {
  return lanes([&](int i) { return a.lane[i] * b.lane[i] - c.lane[i]; });
}
inline Vec max(const Vec& a, const Vec& b) {
  return lanes([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline float reduce_max(const Vec& x) {
  return *std::max_element(x.lane, x.lane + 16);
}
inline float reduce_add(const Vec& x) {
  float part[8];
  for (int i = 0; i < 8; ++i) {
    part[i] = x.lane[i] + x.lane[i + 8];
  }
  for (int width = 4; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) {
      part[i] += part[i + width];
    }
  }
  return part[0];
}

inline Vec fraction(const Vec& x) {
  return lanes([&](int i) {
    const float bounded = x.lane[i] < -127.f ? -127.f : x.lane[i];  // keeps NaN
    return bounded - std::floor(bounded);
  });
}
inline Vec scale_by_power(const Vec& p, const Vec& x) {
  return lanes([&](int i) {
    const float bounded =
        std::min(std::max(-127.f, x.lane[i]), 128.f);  // 2^-127 as 0, 2^128 as inf
    const auto exponent = static_cast<std::int32_t>(std::floor(bounded)) + 127;
    return p.lane[i] * std::bit_cast<float>(exponent << 23);
  });
}

inline Vec keep(Mask16 mask, const Vec& x) {
  return lanes([&](int i) { return (mask >> i & 1) != 0 ? x.lane[i] : 0.f; });
}
inline Vec select(Mask16 mask, const Vec& x, const Vec& other) {
  return lanes([&](int i) { return (mask >> i & 1) != 0 ? x.lane[i] : other.lane[i]; });
}
inline Mask16 first_lanes(Index count) {
  return static_cast<Mask16>((1u << std::clamp<Index>(count, 0, 16)) - 1);
}
inline Mask16 zero_bytes(const std::uint8_t* p, Index count) {
  unsigned mask = 0;
  for (int i = 0; i < std::min<Index>(count, 16); ++i) {
    mask |= static_cast<unsigned>(p[i] == 0) << i;
  }
  return static_cast<Mask16>(mask);
}

template <class T>
Vec load_as_float(const T* p) {
  return lanes([=](int i) { return static_cast<float>(p[i]); });
}
template <class T>
Vec load_as_float(const T* p, Index count) {
  Vec out = zero();
  for (int i = 0; i < std::min<Index>(count, 16); ++i) {
    out.lane[i] = static_cast<float>(p[i]);
  }
  return out;
}
template <class T>
void store_rounded(T* p, const Vec& x, Index count) {
  for (int i = 0; i < std::min<Index>(count, 16); ++i) {
    p[i] = static_cast<T>(x.lane[i]);
  }
}
inline Vec round_to_half(const Vec& x) {
  return lanes([&](int i) { return static_cast<float>(Float16(x.lane[i])); });
}

/// A word of two bf16.
inline float pair_of(BFloat16 low, BFloat16 high) {
  return std::bit_cast<float>(low.bits | static_cast<std::uint32_t>(high.bits) << 16);
}
inline Vec dot_pairs(const Vec& a, const Vec& b, const Vec& c) {
  return lanes([&](int i) {
    const auto x = std::bit_cast<std::uint32_t>(a.lane[i]);
    const auto y = std::bit_cast<std::uint32_t>(b.lane[i]);
    const float low = std::bit_cast<float>(x << 16) * std::bit_cast<float>(y << 16);
    const float high =
        std::bit_cast<float>(x & 0xffff0000u) * std::bit_cast<float>(y & 0xffff0000u);
    return c.lane[i] + low + high;
  });
}
inline Vec load_pairs(const BFloat16* p, Index count) {
  const auto at = [&](int i) { return i < count ? p[i] : BFloat16{}; };
  return lanes([&](int i) { return pair_of(at(2 * i), at(2 * i + 1)); });
}
inline Vec load_pairs(const BFloat16* p) {
  return load_pairs(p, 32);
}
inline void store_row_pairs(float* p, const Vec& first, const Vec& second) {
  for (int i = 0; i < 8; ++i) {
    p[i] = pair_of(BFloat16(first.lane[2 * i]), BFloat16(first.lane[2 * i + 1]));
    p[i + 8] = pair_of(BFloat16(second.lane[2 * i]), BFloat16(second.lane[2 * i + 1]));
  }
}
inline void store_column_pairs(float* p, const Vec& even, const Vec& odd) {
  store(p, lanes([&](int i) { return pair_of(BFloat16(even.lane[i]), BFloat16(odd.lane[i])); }));
}
inline void store_interleaved(float* p, const Vec& even, const Vec& odd) {
  for (int i = 0; i < 16; ++i) {
    const auto a = std::bit_cast<std::uint32_t>(even.lane[i]);
    const auto b = std::bit_cast<std::uint32_t>(odd.lane[i]);
    p[2 * i] = std::bit_cast<float>((a & 0xffffu) | b << 16);
    p[2 * i + 1] = std::bit_cast<float>(a >> 16 | (b & 0xffff0000u));
  }
}

inline void store_transposed(float* to, Index stride, const Vec (&x)[16]) {
  for (int j = 0; j < 16; ++j) {
    for (int i = 0; i < 16; ++i) {
      to[j * stride + i] = x[i].lane[j];
    }
  }
}

inline void philox_keep(const Philox::Counter (&counters)[3], const Philox::Keys& keys,
                        std::uint32_t threshold, Mask16 (&keep)[6][4]) {
  std::fill_n(&keep[0][0], 24, Mask16{0});
  for (int j = 0; j < 3; ++j) {
    Philox::Counter counter = counters[j];
    for (int lane = 0; lane < 16; ++lane, ++counter[0]) {
      const Philox::Counter word = Philox::generate(counter, keys[0]);
      for (std::size_t w = 0; w < 4; ++w) {
        const unsigned low = (word[w] & 0xffffu) >= threshold ? 1 : 0;
        const unsigned high = word[w] >> 16 >= threshold ? 1 : 0;
        keep[2 * j][w] = static_cast<Mask16>(keep[2 * j][w] | low << lane);
        keep[2 * j + 1][w] = static_cast<Mask16>(keep[2 * j + 1][w] | high << lane);
      }
    }
  }
}

}  // namespace mpitron::kernels::host::attention::portable
