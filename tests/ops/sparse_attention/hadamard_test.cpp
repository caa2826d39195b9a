#include "ops/sparse_attention/hadamard.h"

#include <numeric>

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace hadamard_op_test {

using HadamardTest = GradientCheck;

TEST_F(HadamardTest, BackwardIsTheGradient) {
  expect_gradients({random({2, 3, 8})}, [](Context& context, const std::vector<Var>& x) {
    return hadamard(context, x[0], 4);
  });
}

/// Lengths and angles stay.
TEST_F(HadamardTest, ProductsOfTurnedRowsAreThoseOfTheRows) {
  Context cx = context();
  const std::vector<double> before = test::test_values(16, 3);
  const Var x = autograd::constant(test::make_tensor(*device_, {2, 8}, DType::f64, before));
  const std::vector<double> after = test::values_of(hadamard(cx, x, 8).value);
  const auto product = [](const std::vector<double>& rows) {
    return std::inner_product(rows.begin(), rows.begin() + 8, rows.begin() + 8, 0.0);
  };
  EXPECT_NEAR(product(after), product(before), 1e-12);
  EXPECT_NE(after, before);
}

}  // namespace hadamard_op_test
}  // namespace mpitron::ops
