#include "kernels/elementwise/row_error.h"
#include "tests/kernels/gradient_check.h"

namespace mpitron::kernels {
namespace reference_row_error_test {

TEST(ReferenceRowError, GradientInFp64) {
  device::ReferenceStream stream;
  const std::vector<double> weights = test_values(3, 2);
  TestTensor x(DType::f64, {3, 5}, test_values(15, 1)),
      target(DType::f64, {3, 5}, test_values(15, 4));
  TestTensor error(DType::f64, {3}), derror(DType::f64, {3}, weights), dx(DType::f64, {3, 5});
  run(stream, RowErrorBackward{x.view(), target.view(), derror.view(), dx.view(), 0.5f});
  expect_gradient(x, dx.values(), [&] {
    run(stream, RowErrorForward{x.view(), target.view(), error.view(), 0.5f});
    return weighted_sum(error, weights);
  });
}

}  // namespace reference_row_error_test
}  // namespace mpitron::kernels
