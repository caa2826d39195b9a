#include "kernels/elementwise/norm.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace norm_test {

// Sums over h elements in four chains of sixteen lanes: errors of a few 2^-24, and one each for
// the root, the division and the products.
constexpr double kTolerance = 2e-6;
// A column of dgamma sums up to 300 rows.
constexpr double kSumTolerance = 1e-5;

struct Types {
  DType x, y, gamma;
};
constexpr Types kTypes[] = {
    {DType::f32, DType::f32, DType::f32}, {DType::bf16, DType::bf16, DType::bf16},
    {DType::f16, DType::f16, DType::f32}, {DType::f32, DType::bf16, DType::bf16},
    {DType::f32, DType::f16, DType::f32}, {DType::bf16, DType::f32, DType::f32}};

template <class F>
void for_cases(F&& f) {
  for (const Types& types : kTypes) {
    for (const Index h : kOddSizes) {
      for (const Layout layout : kLayouts) {
        SCOPED_TRACE(::testing::Message() << name_of(types.x) << " " << name_of(types.y) << " h "
                                          << h << " gap " << layout.gap);
        f(types, h, layout);
      }
    }
  }
}

TEST(Norm, RmsForward) {
  for_cases([](const Types& types, Index h, Layout layout) {
    for (const bool has_gamma : {true, false}) {
      Workbench bench(layout);
      Twin &x = bench.input(types.x, {5, h}, 3), &gamma = bench.input(types.gamma, {h});
      Twin &y = bench.output(types.y, {5, h}), &rstd = bench.output(DType::f32, {5});
      bench.check(
          [&](Side side) {
            RmsNormForward k{x(side), has_gamma ? gamma(side) : In{}, y(side), rstd(side)};
            k.gamma_offset = 1;
            return k;
          },
          kTolerance);
    }
  });
}

TEST(Norm, LayerForward) {
  for_cases([](const Types& types, Index h, Layout layout) {
    Workbench bench(layout);
    Twin &x = bench.input(types.x, {5, h}, 3), &gamma = bench.input(types.gamma, {h});
    Twin& beta = bench.input(types.gamma, {h});
    Twin &y = bench.output(types.y, {5, h}), &mean = bench.output(DType::f32, {5});
    Twin& rstd = bench.output(DType::f32, {5});
    bench.check(
        [&](Side side) {
          return LayerNormForward{x(side), gamma(side), beta(side),
                                  y(side), mean(side),  rstd(side)};
        },
        // a variance near eps (h = 1: zero) makes 1 / sqrt magnify the error of the mean
        h == 1 ? 1e-3 : kTolerance);
  });
}

TEST(Norm, RowsOfHeads) {  // rank 3 with free strides
  for (const Layout layout : {Layout{0, 0}, Layout{1, 5}}) {
    Workbench bench(layout);
    Twin &x = bench.input(DType::bf16, {7, 3, 20}), &gamma = bench.input(DType::bf16, {20});
    Twin &y = bench.output(DType::bf16, {7, 3, 20}), &rstd = bench.output(DType::f32, {21});
    bench.check(
        [&](Side side) {
          return RmsNormForward{x(side), gamma(side), y(side), rstd(side)};
        },
        kTolerance);
  }
}

TEST(Norm, RmsBackward) {
  for_cases([](const Types& types, Index h, Layout layout) {
    for (const int variant : {0, 1, 2}) {
      Workbench bench(layout);
      const Index t = variant == 0 ? 5 : 300;
      if (t > 5 && h > 130) {
        continue;
      }
      Twin &x = bench.input(types.x, {t, h}), &dy = bench.input(types.y, {t, h});
      Twin &gamma = bench.input(types.gamma, {h}), &rstd = bench.input(DType::f32, {t});
      Twin &dx_add = bench.input(types.x, {t, h}), &dx = bench.output(types.x, {t, h});
      Twin& dgamma = bench.inout(variant == 1 ? DType::f32 : types.gamma, {h});
      bench.check(
          [&](Side side) {
            RmsNormBackward k{x(side), dy(side), gamma(side),  rstd(side),
                              {},      dx(side), dgamma(side), {}};
            if (variant == 1) {
              k.dx_add = dx_add(side);
              k.accumulate = true;
              k.gamma_offset = 1;
            }
            return k;
          },
          kSumTolerance);
    }
  });
}

TEST(Norm, RmsBackwardWithoutGamma) {
  Workbench bench;
  Twin &x = bench.input(DType::f32, {5, 37}), &dy = bench.input(DType::f32, {5, 37});
  Twin &rstd = bench.input(DType::f32, {5}), &dx = bench.output(DType::f32, {5, 37});
  bench.check(
      [&](Side side) {
        return RmsNormBackward{x(side), dy(side), {}, rstd(side), {}, dx(side), {}, {}};
      },
      kTolerance);
}

TEST(Norm, LayerBackward) {
  for_cases([](const Types& types, Index h, Layout layout) {
    for (const bool accumulate : {false, true}) {
      Workbench bench(layout);
      const Index t = h > 130 ? 5 : 300;
      Twin &x = bench.input(types.x, {t, h}), &dy = bench.input(types.y, {t, h});
      Twin &gamma = bench.input(types.gamma, {h}), &mean = bench.input(DType::f32, {t}, 0.1);
      Twin& rstd = bench.input(DType::f32, {t});
      Twin &dgamma = bench.inout(DType::f32, {h}), &dbeta = bench.inout(DType::f32, {h});
      // in place: the gradient that is there is added
      Twin& dx = accumulate ? bench.inout(types.x, {t, h}) : bench.output(types.x, {t, h});
      bench.check(
          [&](Side side) {
            LayerNormBackward k{x(side), dy(side), gamma(side),  mean(side),  rstd(side),
                                {},      dx(side), dgamma(side), dbeta(side), {}};
            k.dx_add = accumulate ? dx(side) : In{};
            k.accumulate = accumulate;
            return k;
          },
          kSumTolerance);
    }
  });
}

/// Longer than what a GPU holds of a row in registers.
TEST(Norm, LongRows) {
  constexpr Index kWidth = 16392 + 1024;
  constexpr double kLongTolerance = 2e-4;  // the mean is small beside what cancels in it
  for (const DType type : {DType::f32, DType::bf16}) {
    Workbench bench;
    Twin &x = bench.input(type, {3, kWidth}, 3), &gamma = bench.input(type, {kWidth});
    Twin &y = bench.output(type, {3, kWidth}), &mean = bench.output(DType::f32, {3});
    Twin &rstd = bench.output(DType::f32, {3}), &dx = bench.output(type, {3, kWidth});
    Twin &dgamma = bench.output(type, {kWidth}), &dbeta = bench.output(type, {kWidth});
    bench.check(
        [&](Side side) {
          return LayerNormForward{x(side), gamma(side), gamma(side),
                                  y(side), mean(side),  rstd(side)};
        },
        kLongTolerance);
    bench.check(
        [&](Side side) {
          return LayerNormBackward{x(side), x(side),  gamma(side),  mean(side),  rstd(side),
                                   {},      dx(side), dgamma(side), dbeta(side), {}};
        },
        kLongTolerance);
  }
}

}  // namespace norm_test
}  // namespace mpitron::kernels
