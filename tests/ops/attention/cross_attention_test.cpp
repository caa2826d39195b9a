#include "ops/attention/cross_attention.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace cross_attention_test {

class CrossAttentionTest : public GradientCheck {
 protected:
  static AttentionSettings grouped() {
    return {
        .layout = {.heads = 4, .query_groups = 2, .head_dim = 2}, .scale = 0.7f, .causal = false};
  }
  void check(const AttentionSettings& settings) {
    expect_gradients({random({3, 2, 8}), random({5, 2, 8})},
                     [&](Context& context, const std::vector<Var>& x) {
                       return cross_attention(context, x[0], x[1], settings);
                     });
  }
};

TEST_F(CrossAttentionTest, BackwardIsTheGradient) {
  check(grouped());
}

TEST_F(CrossAttentionTest, BackwardIsTheGradientWithHiddenKeysAndDropout) {
  AttentionSettings settings = grouped();
  settings.mask = test::make_mask(*device_, {2, 1, 5}, {0, 0, 1, 0, 1, 0, 0, 0, 0, 0});
  settings.dropout.key = {1, 2};
  settings.dropout.threshold = kernels::dropout_threshold(0.3);
  check(settings);
}

/// Each query gets the one value that is left to see; a group's key and value lie side by side.
TEST_F(CrossAttentionTest, LooksAtTheOtherSequence) {
  AttentionSettings settings = grouped();
  settings.mask = test::make_mask(*device_, {1, 1, 5}, {1, 1, 1, 0, 1});
  const Tensor keys_values = random({5, 1, 8});
  const std::vector<double> kv = test::values_of(keys_values);
  Context cx = context();
  const Var y = cross_attention(cx, autograd::variable(random({3, 1, 8})),
                                autograd::variable(keys_values), settings);
  ASSERT_EQ(y.shape(), (Shape{3, 1, 8}));
  const std::vector<double> o = test::values_of(y.value);
  for (std::size_t i = 0; i < o.size(); ++i) {
    const std::size_t group = i % 8 / 4, column = i % 2;
    EXPECT_NEAR(o[i], kv[8 * 3 + 4 * group + 2 + column], 1e-12);
  }
}

}  // namespace cross_attention_test
}  // namespace mpitron::ops
