#include "ops/attention/rotary.h"
#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace scaled_queries_test {

constexpr QkvLayout kLayout{.heads = 4, .query_groups = 2, .head_dim = 3};

class ScaledQueries : public GradientCheck {
 protected:
  Tensor factors() const { return test::make_tensor(*device_, {3, 1}, DType::f32, {1, 2, 0.5}); }
};

TEST_F(ScaledQueries, BackwardIsTheGradient) {
  const Tensor of_positions = factors();
  expect_gradients({random({3, 2, kLayout.width()})}, [&](Context& cx, const std::vector<Var>& x) {
    return scaled_queries(cx, x[0], kLayout, of_positions);
  });
}

/// Of the four heads of a group the first two are queries.
TEST_F(ScaledQueries, KeysAndValuesStay) {
  const Tensor qkv = random({3, 2, kLayout.width()});
  const std::vector<double> before = test::values_of(qkv);
  Context cx = context();
  const Var y = scaled_queries(cx, autograd::variable(qkv), kLayout, factors());
  EXPECT_EQ(y.value.view().data, qkv.view().data);
  const std::vector<double> after = test::values_of(y.value);
  constexpr double kFactors[] = {1, 2, 0.5};
  for (std::size_t at = 0; at < before.size(); ++at) {
    const bool query = at / 3 % 4 < 2;
    EXPECT_EQ(after[at], before[at] * (query ? kFactors[at / 48] : 1)) << at;
  }
}

}  // namespace scaled_queries_test
}  // namespace mpitron::ops
