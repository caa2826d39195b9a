#include "ops/attention/qk_norm.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace qk_norm_test {

constexpr QkvLayout kLayout{.heads = 4, .query_groups = 2, .head_dim = 3};

using QkNormTest = GradientCheck;

TEST_F(QkNormTest, RmsNormBackwardIsTheGradient) {
  const NormParameters query{.gamma = &parameter({3}), .rms = true};
  const NormParameters key{.gamma = &parameter({3}), .rms = true};
  expect_gradients({random({2, 2, kLayout.width()})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return qk_norm(context, x[0], kLayout, query, key);
                   });
}

TEST_F(QkNormTest, LayerNormBackwardIsTheGradient) {
  const NormParameters query{.gamma = &parameter({3}), .beta = &parameter({3})};
  const NormParameters key{.gamma = &parameter({3}), .beta = &parameter({3})};
  expect_gradients({random({2, 1, kLayout.width()})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return qk_norm(context, x[0], kLayout, query, key);
                   });
}

TEST_F(QkNormTest, L2NormHasNoWeights) {
  const NormParameters plain{.rms = true};
  expect_gradients({random({2, 1, kLayout.width()})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return qk_norm(context, x[0], kLayout, plain, plain);
                   });
}

/// Of each group: two query heads and the key head change, the value head passes.
TEST_F(QkNormTest, ValuesPassUnchanged) {
  const NormParameters plain{.eps = 0, .rms = true};
  Context cx = context();
  const Tensor qkv = random({1, 1, kLayout.width()});
  const std::vector<double> x = test::values_of(qkv);
  const std::vector<double> y =
      test::values_of(qk_norm(cx, autograd::variable(qkv), kLayout, plain, plain).value);
  for (std::size_t head = 0; head < 8; ++head) {
    double squares = 0;
    for (std::size_t i = 3 * head; i < 3 * head + 3; ++i) {
      squares += y[i] * y[i];
      if (head % 4 == 3) {
        EXPECT_EQ(y[i], x[i]);
      }
    }
    if (head % 4 != 3) {
      EXPECT_NEAR(squares, 3, 1e-12) << "head " << head;
    }
  }
}

}  // namespace qk_norm_test
}  // namespace mpitron::ops
