#include "kernels/host/elementwise/activation_math.h"

#include "kernels/reference/common/activation_math.h"
#include "tests/kernels/vector_check.h"

namespace mpitron::kernels::host {
namespace activation_math_test {

constexpr Activation kAll[] = {Activation::none, Activation::gelu_tanh,    Activation::gelu_erf,
                               Activation::silu, Activation::squared_relu, Activation::tanh};

simd::Float vec(const Lanes& x) {
  return std::bit_cast<simd::Float>(x);
}

TEST(ActivationMath, ValuesKeepTheirRelativePrecision) {
  for (const Activation activation : kAll) {
    SCOPED_TRACE(static_cast<int>(activation));
    const auto exact = [&](double x) { return reference::activate(activation, x); };
    visit_activation(activation, [&](auto formula) {
      const auto value = [&](const Lanes& x) { return formula.value(vec(x)); };
      const auto shared = [&](const Lanes& x) { return formula.both(vec(x)).value; };
      EXPECT_LT(largest_error(lanes_between(-4, 4), value, exact), 2e-6);
      EXPECT_LT(largest_error(lanes_between(-4, 4), shared, exact), 2e-6);
      EXPECT_LT(largest_error(lanes_between(4, 60), value, exact), 5e-7);
      EXPECT_LT(largest_error(lanes_between(4, 60), shared, exact), 5e-7);
    });
  }
}

TEST(ActivationMath, SlopesAreTheDerivatives) {
  for (const Activation activation : kAll) {
    SCOPED_TRACE(static_cast<int>(activation));
    visit_activation(activation, [&](auto formula) {
      for (const Lanes& x : lanes_between(-12, 12)) {
        const Lanes slope = lanes_of(formula.both(vec(x)).slope);
        for (int i = 0; i < 16; ++i) {
          const double want = reference::activation_slope(activation, double{x[i]});
          ASSERT_NEAR(slope[i], want, 2e-6 * std::max(1.0, std::abs(want))) << x[i];
        }
      }
    });
  }
}

// A loss that has run away must not turn into NaN here first.
TEST(ActivationMath, FarOutNumbersStayFinite) {
  for (const Activation activation : kAll) {
    SCOPED_TRACE(static_cast<int>(activation));
    visit_activation(activation, [&](auto formula) {
      for (const float x : {-1e4f, -300.f, -100.f, 100.f, 300.f, 1e4f}) {
        const auto both = formula.both(simd::splat(x));
        const double want = reference::activate(activation, double{x});
        EXPECT_NEAR(formula.value(simd::splat(x))[0], want, 1e-6 * std::abs(want) + 1e-30) << x;
        EXPECT_NEAR(both.value[0], want, 1e-6 * std::abs(want) + 1e-27) << x;
        EXPECT_NEAR(both.slope[0], reference::activation_slope(activation, double{x}),
                    1e-6 * (1 + 2 * std::abs(double{x})))
            << x;
      }
      EXPECT_TRUE(std::isnan(formula.value(simd::splat(NAN))[0]) ||
                  activation == Activation::squared_relu);
    });
  }
}

}  // namespace activation_math_test
}  // namespace mpitron::kernels::host
