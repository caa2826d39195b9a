#include "kernels/elementwise/row_error.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace row_error_test {

TEST(RowError, MatchesReference) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 17}, Shape{7, 192}}) {
      Workbench bench({1, 3});
      Twin &x = bench.input(dtype, shape), &target = bench.input(DType::f32, shape);
      Twin &derror = bench.input(DType::f32, {shape[0]}),
           &error = bench.output(DType::f32, {shape[0]});
      Twin& dx = bench.output(dtype, shape);
      bench.check(
          [&](Side side) {
            return RowErrorForward{x(side), target(side), error(side), 0.25f};
          },
          1e-6);
      bench.check(
          [&](Side side) {
            return RowErrorBackward{x(side), target(side), derror(side), dx(side), 0.25f};
          },
          1e-6);
    }
  }
}

}  // namespace row_error_test
}  // namespace mpitron::kernels
