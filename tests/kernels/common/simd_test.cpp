#include "kernels/host/common/simd.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/vector_check.h"

namespace mpitron::kernels::simd {
namespace simd_test {

/// The largest relative error of f against exact over `steps` points of [low, high].
template <class F, class G>
double largest_error(F&& f, G&& exact, double low, double high, int steps = 200000) {
  return kernels::largest_error(
      lanes_between(low, high, steps), [&](const Lanes& x) { return f(std::bit_cast<Float>(x)); },
      exact);
}

TEST(Simd, ExponentialWithinItsContract) {
  EXPECT_LT(largest_error([](Float x) { return exp(x); }, [](double x) { return std::exp(x); }, -87,
                          88.7),
            2e-7);
  EXPECT_EQ(exp(splat(0))[0], 1.f);
  EXPECT_EQ(exp(splat(-INFINITY))[0], 0.f);
  EXPECT_EQ(exp(splat(89))[0], INFINITY);
  EXPECT_TRUE(std::isnan(exp(splat(NAN))[0]));
}

TEST(Simd, PowersOfTwo) {
  EXPECT_LT(largest_error([](Float x) { return exp2(x); }, [](double x) { return std::exp2(x); },
                          -125, 127.9),
            2e-7);
  EXPECT_EQ(exp2(splat(3))[0], 8.f);
  EXPECT_EQ(exp2(splat(-INFINITY))[0], 0.f);
  EXPECT_EQ(exp2(splat(129))[0], INFINITY);
  EXPECT_EQ(exp2(splat(INFINITY))[0], INFINITY);
  EXPECT_TRUE(std::isnan(exp2(splat(NAN))[0]));
}

TEST(Simd, SigmoidAndItsComplement) {
  const auto exact = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(largest_error([](Float x) { return sigmoid(x).value; }, exact, -79, 100), 3e-7);
  EXPECT_LT(largest_error([](Float x) { return sigmoid(x).complement; },
                          [&](double x) { return exact(-x); }, -79, 80),
            3e-7);
}

TEST(Simd, Tanh) {
  EXPECT_LT(largest_error([](Float x) { return tanh(x); }, [](double x) { return std::tanh(x); },
                          -20, 20.0001),
            3e-7);
}

TEST(Simd, TailOfTheNormalDistribution) {
  const auto tail = [](double x) { return 0.5 * std::erfc(std::abs(x) / std::sqrt(2.)); };
  EXPECT_LT(largest_error([](Float x) { return normal_tail(x).tail; }, tail, -3, 3), 1e-6);
  EXPECT_LT(largest_error([](Float x) { return normal_tail(x).tail; }, tail, -12, 12), 8e-6);
  EXPECT_LT(largest_error([](Float x) { return normal_tail(x).gauss; },
                          [](double x) { return std::exp(-0.5 * x * x); }, -12, 12),
            8e-6);
  EXPECT_TRUE(std::isnan(normal_tail(splat(NAN)).tail[0]));
}

TEST(Simd, LogarithmOfTheNormalTail) {
  const auto tail = [](double x) { return 0.5 * std::erfc(std::abs(x) / std::sqrt(2.)); };
  const auto value = [](Float x) { return exp2(log2_normal_tail(abs(x))); };
  EXPECT_LT(largest_error(value, tail, -4.2, 4.2), 2e-6);
  EXPECT_LT(largest_error(value, tail, -6, 6), 5e-5);
  EXPECT_LT(largest_error(value, tail, -9, 9), 3e-3);
  for (float x = 6; x <= 14; x += 0.01f) {
    EXPECT_LE(value(splat(x))[0], tail(x) * 1.01) << x;
  }
  EXPECT_TRUE(std::isnan(value(splat(NAN))[0]));
}

TEST(Simd, SixteenLaneSumsAreThoseOfEachVector) {
  Float x[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      x[i][lane] = 1.f / static_cast<float>(1 + i * kLanes + lane * lane);
    }
  }
  const Float sums = lane_sums(x);
  for (int i = 0; i < kLanes; ++i) {
    EXPECT_EQ(sums[i], lane_sum(x[i])) << i;
  }
}

TEST(Simd, SumsOfOddRows) {
  std::vector<float> x(300);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i + 1);
  }
  for (Index n = 0; n <= 300; ++n) {
    const auto [sum] = row_sums<1>(
        n, [&](Index i, auto lanes, auto& acc) { acc[0] += load(x.data() + i, lanes); });
    EXPECT_EQ(sum, static_cast<float>(n * (n + 1) / 2)) << n;
  }
}

TEST(Simd, PartialStoresTouchNothingElse) {
  for (Index count = 1; count < kLanes; ++count) {
    std::vector<BFloat16> out(kLanes, BFloat16(7));
    store(out.data(), splat(2), Part{count});
    for (Index i = 0; i < kLanes; ++i) {
      EXPECT_EQ(static_cast<float>(out[static_cast<std::size_t>(i)]), i < count ? 2 : 7);
    }
  }
}

TEST(Simd, PhiloxIsUtilsPhilox) {
  std::array<UInt, 4> counters{};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    for (std::uint32_t word = 0; word < 4; ++word) {
      counters[word][lane] = 0x9E3779B9u * (4 * lane + word + 1);
    }
  }
  const Philox::Key key{0xdeadbeefu, 42};
  const auto got = philox(counters, key);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const auto want = Philox::generate(
        {counters[0][lane], counters[1][lane], counters[2][lane], counters[3][lane]}, key);
    for (std::uint32_t word = 0; word < 4; ++word) {
      EXPECT_EQ(got[word][lane], want[word]);
    }
  }
}

}  // namespace simd_test
}  // namespace mpitron::kernels::simd
