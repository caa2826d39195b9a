#include "kernels/host/common/simd_generic.h"

#include "tests/kernels/vector_check.h"

namespace mpitron::kernels::simd::generic {
namespace simd_generic_test {

Float vec(const Lanes& x) {
  return std::bit_cast<Float>(x);
}

TEST(GenericSimd, MinimumAndMaximumTakeTheSecondForNan) {
  const Lanes a = random_lanes(1), b = random_lanes(2);
  expect_same(lanes_of(min(vec(a), vec(b))),
              make_lanes([&](int i) { return std::min(a[i], b[i]); }));
  expect_same(lanes_of(max(vec(a), vec(b))),
              make_lanes([&](int i) { return std::max(a[i], b[i]); }));
  const Lanes nan = make_lanes([](int) { return NAN; });
  expect_same(lanes_of(max(vec(nan), vec(b))), b);
  expect_same(lanes_of(max(vec(b), vec(nan))), nan);
  expect_same(lanes_of(min(vec(nan), vec(b))), b);
}

TEST(GenericSimd, ElementaryOperationsOfAllMagnitudes) {
  const auto positive = lanes_between(1e-30, 1e6);
  EXPECT_LT(largest_error(
                positive, [](const Lanes& x) { return sqrt(vec(x)); },
                [](double x) { return std::sqrt(x); }),
            6e-8);
  EXPECT_LT(largest_error(
                lanes_between(-1e6, -1e-6), [](const Lanes& x) { return reciprocal(vec(x)); },
                [](double x) { return 1 / x; }),
            6e-8);
  EXPECT_EQ(largest_error(
                lanes_between(-4e6, 4e6), [](const Lanes& x) { return round(vec(x)); },
                [](double x) { return std::nearbyint(x); }),
            0);
  EXPECT_EQ(largest_error(
                lanes_between(-64, 64, 256), [](const Lanes& x) { return round(vec(x)); },
                [](double x) { return std::nearbyint(x); }),
            0);  // halves go to even
  EXPECT_LT(largest_error(
                lanes_between(-100, 100),
                [](const Lanes& x) { return fma(vec(x), vec(x), Float{} + 1.f); },
                [](double x) { return x * x + 1; }),
            1.3e-7);
}

TEST(GenericSimd, PowersOfTwoBelowTheNormalAndAboveTheFinite) {
  for (int k = -250; k < 250; ++k) {
    for (const float x : {1.f, -1.25f, 1e-20f, 1e20f}) {
      const Lanes got = lanes_of(scale_by_power(Float{} + x, Float{} + static_cast<float>(k)));
      expect_same(got, make_lanes([&](int) { return std::ldexp(x, k); }));
    }
  }
}

TEST(GenericSimd, FractionsAndPowersOfAnyNumber) {
  for (const Lanes& x : lanes_between(-200, 200)) {
    expect_same(lanes_of(floor(vec(x))), make_lanes([&](int i) { return std::floor(x[i]); }));
    expect_same(lanes_of(fraction(vec(x))),
                make_lanes([&](int i) { return x[i] - std::floor(x[i]); }));
    expect_same(lanes_of(scale_by_power(Float{} + 1.5f, vec(x))), make_lanes([&](int i) {
                  return std::ldexp(1.5f, static_cast<int>(std::floor(x[i])));
                }));
  }
  const Float infinity = Float{} + INFINITY;
  EXPECT_EQ(fraction(infinity)[0], 0.f);
  EXPECT_EQ(fraction(-infinity)[0], 0.f);
  EXPECT_EQ(scale_by_power(Float{} + 1.f, infinity)[0], INFINITY);
  EXPECT_EQ(scale_by_power(Float{} + 1.f, -infinity)[0], 0.f);
  EXPECT_TRUE(std::isnan(fraction(Float{} + NAN)[0]));
}

TEST(GenericSimd, HighHalvesOfProducts) {
  UInt a;
  for (std::uint32_t i = 0; i < 16; ++i) {
    a[i] = 0x9E3779B9u * (i + 1);
  }
  for (const std::uint32_t factor : {0u, 1u, 0xD2511F53u, 0xffffffffu}) {
    const UInt high = multiply_high(a, factor);
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(high[i], static_cast<std::uint32_t>(std::uint64_t{a[i]} * factor >> 32));
    }
  }
}

TEST(GenericSimd, AnyLaneOfAMask) {
  EXPECT_FALSE(any(Int{}));
  for (int lane = 0; lane < 16; ++lane) {
    Int mask{};
    mask[lane] = -1;
    EXPECT_TRUE(any(mask));
  }
}

TEST(GenericSimd, SquaresOfPairs) {
  std::array<BFloat16, 32> x;
  for (int i = 0; i < 32; ++i) {
    x[static_cast<std::size_t>(i)] = BFloat16(static_cast<float>(i - 5));
  }
  expect_same(lanes_of(add_pair_squares(x.data(), Float{} + 0.5f)), make_lanes([](int lane) {
                const auto low = static_cast<float>(2 * lane - 5);
                return 0.5f + low * low + (low + 1) * (low + 1);
              }));
}

template <class T>
void check_memory() {
  for (const Lanes& x : lanes_of_all_magnitudes()) {
    std::array<T, 18> memory;  // one element off alignment
    memory.fill(T(7.f));
    store(memory.data() + 1, vec(x), Part{11});
    for (int i = 0; i < 16; ++i) {
      EXPECT_TRUE(rounds_to(memory[static_cast<std::size_t>(i) + 1], i < 11 ? x[i] : 7.f)) << x[i];
    }
    const Lanes part = lanes_of(load(memory.data() + 1, Part{5}));
    const Lanes full = lanes_of(load(memory.data() + 1));
    for (int i = 0; i < 16; ++i) {
      const auto at = static_cast<float>(memory[static_cast<std::size_t>(i) + 1]);
      EXPECT_EQ(full[i], at);
      EXPECT_EQ(part[i], i < 5 ? at : 0);
    }
    stream(memory.data() + 1, vec(x));
    stream_fence();
    EXPECT_TRUE(rounds_to(memory[16], x[15]));
    EXPECT_TRUE(rounds_to(memory[0], 7.f) && rounds_to(memory[17], 7.f));
  }
}

TEST(GenericSimd, LoadsAndStoresConvertAndTouchNothingElse) {
  check_memory<float>();
  check_memory<BFloat16>();
  check_memory<Float16>();
}

TEST(GenericSimd, InsideClearsTheLanesBeyond) {
  const Lanes x = random_lanes(4);
  expect_same(lanes_of(inside(vec(x), Full{})), x);
  for (Index count = 1; count < 16; ++count) {
    expect_same(lanes_of(inside(vec(x), Part{count})),
                make_lanes([&](int i) { return i < count ? x[i] : 0; }));
  }
}

}  // namespace simd_generic_test
}  // namespace mpitron::kernels::simd::generic
