#include "ops/linear/low_rank.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace low_rank_test {

class LowRankTest : public GradientCheck {};

TEST_F(LowRankTest, BackwardIsTheGradient) {
  Parameter& b = parameter({4, 2});
  expect_gradients({random({2, 3, 4}), random({2, 3, 2})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return add_low_rank(context, x[0], x[1], {{&b}, {6}}, {.width = 4});
                   });
}

/// Two blocks of two columns, three apart.
TEST_F(LowRankTest, BlocksOfFusedOutputs) {
  Parameter& b = parameter({4, 3});
  expect_gradients({random({5, 7}), random({5, 3})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return add_low_rank(context, x[0], x[1], {{&b}, {5}},
                                         {.first = 1, .width = 2, .stride = 3, .count = 2});
                   });
}

TEST_F(LowRankTest, GroupsOfRows) {
  Parameter& first = parameter({4, 2});
  Parameter& second = parameter({4, 2});
  expect_gradients(
      {random({5, 4}), random({5, 2})}, [&](Context& context, const std::vector<Var>& x) {
        return add_low_rank(context, x[0], x[1], {{&first, &second}, {2, 3}}, {.width = 4});
      });
}

TEST_F(LowRankTest, BiasesOfGroupsWithAndWithoutFactors) {
  Parameter& first = parameter({4});
  Parameter& second = parameter({4});
  const RowGroups groups{{&first, &second}, {2, 3}};
  expect_gradients({random({5, 4})}, [&](Context& context, const std::vector<Var>& x) {
    return add_group_biases(context, x[0], groups, {});
  });
  expect_gradients({random({5, 4}), random({5})}, [&](Context& context, const std::vector<Var>& x) {
    return add_group_biases(context, x[0], groups, {&x[1]});
  });
  expect_gradients({random({5, 4}), random({5})}, [&](Context& context, const std::vector<Var>& x) {
    return add_group_biases(context, x[0], groups, {&x[1], 0});
  });
  Context cx = context();
  const std::vector<double> zeros(8, 0.0);
  const Var y = autograd::variable(test::make_tensor(*device_, {2, 4}, DType::f64, zeros));
  const auto sum = test::values_of(add_group_biases(cx, y, {{&first, &second}, {1, 1}}, {}).value);
  const auto a = test::values_of(first.value), b = test::values_of(second.value);
  EXPECT_EQ(sum, (std::vector<double>{a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]}));
}

TEST_F(LowRankTest, OtherColumnsStayAsTheyAre) {
  Parameter& b = parameter({2, 1});
  Context cx = context();
  const std::vector<double> before(8, 3.0);
  const Var y = autograd::variable(test::make_tensor(*device_, {2, 4}, DType::f64, before));
  const Var u = autograd::variable(random({2, 1}));
  const std::vector<double> sum =
      test::values_of(add_low_rank(cx, y, u, {{&b}, {2}}, {.first = 2, .width = 2}).value);
  for (const std::size_t i : {0, 1, 4, 5}) {
    EXPECT_EQ(sum[i], 3);
  }
  EXPECT_NE(sum[2], 3);
}

}  // namespace low_rank_test
}  // namespace mpitron::ops
