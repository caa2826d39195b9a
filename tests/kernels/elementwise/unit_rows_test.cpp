#include "kernels/elementwise/unit_rows.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace unit_rows_test {

TEST(UnitRows, MatchesReference) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    for (const Shape& shape : {Shape{1, 2}, Shape{3, 17}, Shape{7, 192}}) {
      for (const bool accumulate : {false, true}) {
        Workbench bench({1, 0});
        const Shape rows{shape[0]};
        Twin &x = bench.input(dtype, shape), &gain = bench.input(dtype, rows);
        Twin &y = bench.output(dtype, shape), &norm = bench.output(DType::f32, rows);
        bench.check(
            [&](Side side) {
              return UnitRowsForward{x(side), gain(side), y(side), norm(side)};
            },
            1e-6);
        Twin& dy = bench.input(dtype, shape);
        Twin &dx = bench.output(DType::f32, shape), &dgain = bench.output(DType::f32, rows);
        dx.fill(std::vector<double>(static_cast<std::size_t>(shape.numel()), 0.25));
        dgain.fill(std::vector<double>(static_cast<std::size_t>(shape[0]), 0.5));
        bench.check(
            [&](Side side) {
              return UnitRowsBackward{.x = x(side),
                                      .dy = dy(side),
                                      .gain = gain(side),
                                      .norm = norm(side),
                                      .dx = dx(side),
                                      .dgain = dgain(side),
                                      .accumulate = accumulate};
            },
            4e-6);
      }
    }
  }
}

TEST(UnitRows, ARowOfZerosStaysFinite) {
  Workbench bench({0, 0});
  Twin& x = bench.input(DType::f32, {1, 3});
  x.fill({0, 0, 0});
  Twin &y = bench.output(DType::f32, {1, 3}), &norm = bench.output(DType::f32, {1});
  bench.check([&](Side side) { return UnitRowsForward{x(side), {}, y(side), norm(side)}; }, 0);
  EXPECT_EQ(y.sides[tested_side].values(), (std::vector<double>{0, 0, 0}));
}

}  // namespace unit_rows_test
}  // namespace mpitron::kernels
