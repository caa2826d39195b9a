#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/test_values.h"
#include "utils/numbers/float16.h"

// Sixteen lanes of any vector type as plain numbers, and the numbers to feed them.

namespace mpitron::kernels {

struct alignas(64) Lanes {
  std::array<float, 16> lane{};

  float operator[](int i) const { return lane[static_cast<std::size_t>(i)]; }
  float& operator[](int i) { return lane[static_cast<std::size_t>(i)]; }
  const float* data() const { return lane.data(); }
  float* data() { return lane.data(); }
};

template <class V>
Lanes lanes_of(const V& x) {
  return std::bit_cast<Lanes>(x);
}

/// f(lane) in every lane.
template <class F>
Lanes make_lanes(F&& f) {
  Lanes out;
  for (int i = 0; i < 16; ++i) {
    out[i] = f(i);
  }
  return out;
}

/// Numbers of all magnitudes and both signs: random bits, halfway cases of bf16 and fp16, zeros,
/// subnormals, infinities. No NaN.
inline std::vector<Lanes> lanes_of_all_magnitudes() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.f,        -0.f,      1.f,        -1.f,     kInfinity,
                               -kInfinity, 3.4e38f,   -3.4e38f,   65504.f,  65519.9f,
                               65520.f,    0x1p-14f,  0x1.8p-25f, 0x1p-25f, 0x1.00ep-15f,
                               0x1p-126f,  0x1p-140f, -0x1p-149f};
  std::uint32_t state = 1;
  while (values.size() < 4096) {
    state = state * 1664525u + 1013904223u;
    const std::uint32_t cut = values.size() % 3 == 0   ? 0xffffffffu
                              : values.size() % 3 == 1 ? 0xffff8000u   // ends in a half of bf16
                                                       : 0xfffff000u;  // of fp16
    const auto value = std::bit_cast<float>((state ^ state >> 15) & cut);
    values.push_back(std::isnan(value) ? 0x1.004p0f : value);
  }
  std::vector<Lanes> out;
  for (std::size_t i = 0; i < values.size(); i += 16) {
    out.push_back(make_lanes([&](int lane) { return values[i + static_cast<std::size_t>(lane)]; }));
  }
  return out;
}

/// `steps` points of [low, high], sixteen at a time.
inline std::vector<Lanes> lanes_between(double low, double high, int steps = 16384) {
  std::vector<Lanes> out;
  for (int k = 0; k < steps; k += 16) {
    out.push_back(make_lanes(
        [&](int lane) { return static_cast<float>(low + (high - low) * (k + lane) / steps); }));
  }
  return out;
}

/// Lanes in [-scale, scale).
inline Lanes random_lanes(unsigned seed, double scale = 1) {
  const auto values = test::test_values(16, seed);
  return make_lanes(
      [&](int i) { return static_cast<float>(scale * values[static_cast<std::size_t>(i)]); });
}

/// Equal as bits, but for the payload of NaN.
inline bool same_number(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

inline void expect_same(const Lanes& got, const Lanes& want) {
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(same_number(got[i], want[i]))
        << "lane " << i << ": " << got[i] << ", not " << want[i];
  }
}

/// Largest relative error of the lanes f(x) against exact(x) in double; infinite for NaN.
template <class F, class G>
double largest_error(const std::vector<Lanes>& points, F&& f, G&& exact) {
  double worst = 0;
  for (const Lanes& x : points) {
    const Lanes y = lanes_of(f(x));
    for (int i = 0; i < 16; ++i) {
      const double want = exact(static_cast<double>(x[i]));
      const double difference = std::abs(static_cast<double>(y[i]) - want);
      const double error = want == 0 ? difference : difference / std::abs(want);
      worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
    }
  }
  return worst;
}

/// Whether `got` is x rounded to bf16. Processors with a conversion instruction take subnormal
/// numbers for zero.
inline bool rounds_to(BFloat16 got, float x) {
  const BFloat16 want(x);
  const bool flushed = std::abs(x) < 0x1p-126f && (got.bits & 0x7fff) == 0;
  return got.bits == want.bits || flushed || (std::isnan(x) && std::isnan(static_cast<float>(got)));
}
inline bool rounds_to(Float16 got, float x) {
  return got.bits == Float16(x).bits || (std::isnan(x) && std::isnan(static_cast<float>(got)));
}
inline bool rounds_to(float got, float x) {
  return same_number(got, x);
}

}  // namespace mpitron::kernels
