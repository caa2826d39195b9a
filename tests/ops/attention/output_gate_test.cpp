#include "ops/attention/output_gate.h"

#include "ops/elementwise/reshape.h"
#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace output_gate_test {

using OutputGateTest = GradientCheck;

/// Two groups of two query columns, their gates, and three columns of key and value.
TEST_F(OutputGateTest, BackwardIsTheGradient) {
  expect_gradients({random({3, 2, 14})}, [](Context& context, const std::vector<Var>& x) {
    const auto [others, gate] = split_gate(context, x[0], 2, 2);
    return join_columns(context, output_gate(context, gate, gate), others);
  });
}

TEST_F(OutputGateTest, GatesLieBetweenQueriesAndKeys) {
  Context cx = context();
  const Var x = autograd::variable(
      test::make_tensor(*device_, {1, 1, 8}, DType::f64, {1, 10, 2, 3, 4, 20, 5, 6}));
  const auto [others, gate] = split_gate(cx, x, 2, 1);
  EXPECT_EQ(test::values_of(others.value), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(test::values_of(gate.value), (std::vector<double>{10, 20}));
}

TEST_F(OutputGateTest, HalvesWhereTheGateIsZero) {
  Context cx = context();
  const auto one = [&](double value) {
    return autograd::variable(test::make_tensor(*device_, {1, 1, 1}, DType::f64, {value}));
  };
  EXPECT_NEAR(test::values_of(output_gate(cx, one(6), one(0)).value)[0], 3, 1e-12);
}

}  // namespace output_gate_test
}  // namespace mpitron::ops
