#include "kernels/experts/permute.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace permute_test {

// Rows that nobody, one and many take, and a place that takes none.
const std::vector<double> kRows = {3, 0, 5, 5, -1, 2, 5, 0, 6};
constexpr Index kPlaces = 9, kTokens = 7;

TEST(Permute, There) {
  for (const DType dtype : kTrainingTypes) {
    for (const Layout layout : kLayouts) {
      for (const Index h : kOddSizes) {
        Workbench bench(layout);
        Twin &x = bench.input(dtype, {kTokens, h}), &rows = bench.integers(kRows);
        Twin& y = bench.output(dtype, {kPlaces, h});
        bench.check([&](Side side) { return Permute{x(side), rows(side), y(side)}; }, 0);
      }
    }
  }
}

TEST(Permute, AndBack) {
  for (const DType dtype : kTrainingTypes) {
    for (const Layout layout : kLayouts) {
      for (const Index h : kOddSizes) {
        Workbench bench(layout);
        Twin &y = bench.input(dtype, {kPlaces, h}), &rows = bench.integers(kRows);
        Twin& x = bench.output(dtype, {kTokens, h});
        bench.check(
            [&](Side side) {
              return Unpermute{y(side), rows(side), x(side), {}};
            },
            2e-7);  // sums of three
      }
    }
  }
}

/// More rows than a block of a GPU has threads; tokens come twice, far apart.
TEST(Permute, BackToManyRows) {
  constexpr Index kMany = 2500;
  std::vector<double> rows;
  for (Index i = 0; i < 2 * kMany; ++i) {
    rows.push_back(static_cast<double>(i * 7 % (kMany + 1) - 1));
  }
  Workbench bench;
  Twin &y = bench.input(DType::f32, {2 * kMany, 3}), &places = bench.integers(rows);
  Twin& x = bench.output(DType::f32, {kMany, 3});
  bench.check([&](Side side) { return Unpermute{y(side), places(side), x(side), {}}; }, 2e-7);
}

TEST(Permute, WithoutPlacesEveryRowIsZero) {
  TestTensor y(DType::f32, {0, 3}), rows(DType::i64, {0}),
      x(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  run_on_device(Unpermute{y.view(), rows.view(), x.view(), {}});
  EXPECT_EQ(x.values(), std::vector<double>(6, 0));
}

TEST(Permute, ScaledRows) {
  for (const DType dtype : kTrainingTypes) {
    for (const Index h : {1, 17, 64, 5000}) {
      Workbench bench({1, 3});
      Twin &x = bench.input(dtype, {5, h}), &factors = bench.input(DType::f32, {5}),
           &dy = bench.input(dtype, {5, h});
      Twin &y = bench.output(dtype, {5, h}), &dx = bench.output(dtype, {5, h}),
           &dfactors = bench.output(DType::f32, {5});
      bench.check([&](Side side) { return ScaleRows{x(side), factors(side), y(side)}; }, 1e-7);
      bench.check(
          [&](Side side) {
            return ScaleRowsBackward{dy(side), x(side), factors(side), dx(side), dfactors(side)};
          },
          2e-6);
    }
  }
}

}  // namespace permute_test
}  // namespace mpitron::kernels
