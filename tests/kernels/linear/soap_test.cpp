#include "kernels/linear/soap.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace soap_test {

constexpr double kTolerance = 1e-14;
const Shape kShape{5, 37};

TEST(Soap, AveragesAsTheReference) {
  Workbench bench({0, 0});
  Twin &average = bench.output(DType::f64, kShape), &x = bench.input(DType::f64, kShape);
  average.fill(std::vector<double>(static_cast<std::size_t>(kShape.numel()), 0.5));
  bench.check([&](Side side) { return WideAverage{average(side), x(side), 0.9}; }, kTolerance);
}

TEST(Soap, WhitensRowsAsTheReference) {
  for (const bool given : {false, true}) {
    Workbench bench({0, 0});
    const Shape square{5, 5};
    Twin &x = bench.input(DType::f64, kShape), &y = bench.output(DType::f64, kShape);
    Twin& vectors = bench.input(DType::f64, square);
    Twin& values = bench.output(DType::f64, {5});
    bench.check(
        [&](Side side) {
          WhitenRows whiten{
              .x = x(side), .vectors = {}, .products = {}, .values = values(side), .y = y(side)};
          if (given) {
            whiten.vectors = vectors(side), whiten.products = vectors(side);
          }
          return whiten;
        },
        1e-12);
  }
}

/// Squares move with the vectors whose they are.
TEST(Soap, DirectionsAreThoseOfTheReference) {
  for (const bool ordered : {false, true}) {
    Workbench bench({0, 0});
    Twin &gradient = bench.input(DType::f64, kShape), &average = bench.input(DType::f64, kShape);
    Twin& squares = bench.input(DType::f64, kShape);
    std::vector<double> positive(static_cast<std::size_t>(kShape.numel()));
    for (std::size_t i = 0; i < positive.size(); ++i) {
      positive[i] = static_cast<double>(i) + 1;
    }
    squares.fill(positive);
    Twin &rows = bench.input(DType::i64, {5}), &columns = bench.input(DType::i64, {37});
    std::vector<double> reversed(37);
    for (std::size_t i = 0; i < reversed.size(); ++i) {
      reversed[i] = static_cast<double>(36 - i);
    }
    rows.fill({2, 0, 4, 1, 3}), columns.fill(reversed);
    Twin &row = bench.input(DType::f64, {5}), &column = bench.input(DType::f64, {37});
    row.fill({1, 1, 0, 1, 0}), column.fill(std::vector<double>(37, 1));
    Twin &next = bench.output(DType::f64, kShape), &direction = bench.output(DType::f64, kShape);
    bench.check(
        [&](Side side) {
          SoapDirection k{.gradient = gradient(side),
                          .average = average(side),
                          .squares = squares(side),
                          .row_order = {},
                          .column_order = {},
                          .row_present = {},
                          .column_present = {},
                          .next = next(side),
                          .direction = direction(side)};
          k.beta2 = 0.9, k.correction1 = 0.5, k.correction2 = 0.25;
          if (ordered) {
            k.row_order = rows(side), k.column_order = columns(side);
            k.row_present = row(side), k.column_present = column(side);
          }
          return k;
        },
        kTolerance);
    if (ordered) {
      const double g = gradient.sides[tested_side].values()[0];
      EXPECT_EQ(direction.sides[tested_side].values()[2 * 37], 0);
      EXPECT_NEAR(next.sides[tested_side].values()[0], 0.9 * (2 * 37 + 37) + 0.1 * g * g, 1e-12);
    }
  }
}

}  // namespace soap_test
}  // namespace mpitron::kernels
