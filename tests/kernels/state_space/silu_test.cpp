#include "kernels/host/state_space/silu.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "utils/numbers/dtype.h"

namespace mpitron::kernels::host {
namespace silu_test {

/// Distance of silu<T> and its slope from what fp64 says, in units of what is allowed at x.
template <class T>
double worst(float x) {
  const auto [value, slope] = silu<T>(simd::splat(x));
  const double wide = x, open = 1 / (1 + std::exp(-wide));
  const double relative = std::is_same_v<T, float> ? 4e-7 : 3e-7 + 1e-7 * std::abs(wide);
  const double of_value = std::abs(double{value[3]} - wide * open) / std::abs(wide * open);
  // The slope is a sum that may cancel: its error is measured against its terms.
  const double exact = open * (1 + wide * (1 - open));
  const double terms = open * (1 + std::abs(wide) * (1 - open));
  const double of_slope = std::abs(double{slope[3]} - exact) / terms;
  return std::max(of_value, of_slope / 3) / relative;
}

TEST(Silu, IsAsExactAsTheTypeWants) {
  for (float x = -60.F; x < 60.F; x += 0.0937F) {
    EXPECT_LT(worst<float>(x), 1) << x;
    EXPECT_LT(worst<BFloat16>(x), 1) << x;
    EXPECT_LT(worst<Float16>(x), 1) << x;
  }
}

TEST(Silu, OfSeveralVectorsHasTheBitsOfOne) {
  simd::Float x;
  for (int i = 0; i < simd::kLanes; ++i) {
    x[i] = 3.1F * static_cast<float>(i) - 24.F;
  }
  const auto same = [&]<class T>(T) {
    const Several all{{x, 2.F * x, -x, 0.1F * x}};
    const auto [value, slope] = silu<T>(all);
    for (int i = 0; i < Several::kCount; ++i) {
      const auto [one, its_slope] = silu<T>(all.v[i]);
      for (int lane = 0; lane < simd::kLanes; ++lane) {
        EXPECT_EQ(value.v[i][lane], one[lane]);
        EXPECT_EQ(slope.v[i][lane], its_slope[lane]);
      }
    }
  };
  same(float{}), same(BFloat16{}), same(Float16{});
}

TEST(Silu, EndsInZeroAndInTheNumberItself) {
  for (const float far : {100.F, 3e4F, 3e38F}) {
    const auto [open, slope] = silu<BFloat16>(simd::splat(far));
    EXPECT_EQ(open[0], far);
    EXPECT_EQ(slope[0], 1.F);
    const auto [closed, flat] = silu<BFloat16>(simd::splat(-far));
    EXPECT_NEAR(closed[0] / far, 0.F, 1e-34);
    EXPECT_NEAR(flat[0] / far, 0.F, 1e-34);
  }
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(silu<BFloat16>(simd::splat(kNan)).value[0]));
}

}  // namespace silu_test
}  // namespace mpitron::kernels::host
