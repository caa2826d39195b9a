#include "ops/attention/attention.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace attention_test {

class AttentionTest : public GradientCheck {
 protected:
  void check(const AttentionSettings& settings) {
    expect_gradients({random({4, 2, settings.layout.width()})},
                     [&](Context& context, const std::vector<Var>& x) {
                       return attention(context, x[0], settings);
                     });
  }
  static AttentionSettings grouped() {
    return {.layout = {.heads = 4, .query_groups = 2, .head_dim = 2}, .scale = 0.7f};
  }
};

TEST_F(AttentionTest, BackwardIsTheGradientWithGroupedQueries) {
  check(grouped());
}

TEST_F(AttentionTest, BackwardIsTheGradientWithOneHeadPerGroup) {
  check({.layout = {.heads = 2, .query_groups = 2, .head_dim = 3}, .scale = 0.5f});
}

TEST_F(AttentionTest, BackwardIsTheGradientWithNarrowerValues) {
  check({.layout = {.heads = 2, .query_groups = 2, .head_dim = 3, .value_dim = 2}, .scale = 0.5f});
}

TEST_F(AttentionTest, BackwardIsTheGradientWithAWindow) {
  AttentionSettings settings = grouped();
  settings.window = 1;
  check(settings);
}

/// Bounds that scores reach: a tanh whose slope is far from 1.
TEST_F(AttentionTest, BackwardIsTheGradientWithASoftCap) {
  AttentionSettings settings = grouped();
  for (const float softcap : {0.3f, 2.f}) {
    settings.softcap = softcap;
    check(settings);
  }
}

TEST_F(AttentionTest, BackwardIsTheGradientWithAMask) {
  AttentionSettings settings = grouped();
  settings.causal = false;
  settings.mask = test::make_mask(*device_, {1, 4, 4},
                                  {0, 1, 0, 1,  //
                                   0, 0, 1, 0,  //
                                   1, 1, 1, 1,  // sees nothing
                                   0, 0, 0, 0});
  check(settings);
}

TEST_F(AttentionTest, BackwardIsTheGradientWithKeysThatAreHiddenFromAll) {
  AttentionSettings settings = grouped();
  settings.causal = false;
  settings.mask = test::make_mask(*device_, {2, 1, 4}, {0, 1, 0, 0, 0, 0, 0, 1});
  check(settings);
}

/// The second half of the heads of a bias, as a tensor parallel rank has it.
TEST_F(AttentionTest, BackwardIsTheGradientOfABias) {
  for (const bool causal : {false, true}) {
    AttentionSettings settings = grouped();
    settings.causal = causal;
    settings.first_head = 4;
    const auto op = [&](Context& context, const std::vector<Var>& x) {
      AttentionSettings biased = settings;
      biased.bias = x[1];
      return attention(context, x[0], biased);
    };
    expect_gradients({random({4, 2, settings.layout.width()}), random({7, 1, 8})}, op);
  }
}

TEST_F(AttentionTest, BackwardIsTheGradientWithASink) {
  AttentionSettings settings = grouped();
  settings.sink = AttentionSettings::Sink::zero;
  check(settings);
  settings.sink = AttentionSettings::Sink::learned;
  settings.sink_logits = &parameter({4});
  settings.window = 1;
  check(settings);
  settings.dropout.key = {1, 2};
  settings.dropout.threshold = kernels::dropout_threshold(0.5);
  check(settings);
}

/// With a sink of the scores' own size a first position keeps half of itself.
TEST_F(AttentionTest, ASinkTakesItsShare) {
  AttentionSettings settings{.layout = {.heads = 1, .query_groups = 1, .head_dim = 1}};
  settings.sink = AttentionSettings::Sink::zero;
  Context cx = context();
  const Tensor qkv = test::make_tensor(*device_, {2, 1, 3}, DType::f64, {0, 5, 4, 0, 7, 8});
  const std::vector<double> o =
      test::values_of(attention(cx, autograd::variable(qkv), settings).value);
  EXPECT_NEAR(o[0], 4. / 2, 1e-12);
  EXPECT_NEAR(o[1], (4. + 8.) / 3, 1e-12);
}

TEST_F(AttentionTest, BackwardIsTheGradientWithDropout) {
  AttentionSettings settings = grouped();
  settings.dropout.key = {1, 2};
  settings.dropout.threshold = kernels::dropout_threshold(0.5);
  settings.dropout.index.sample_offset = 3;
  check(settings);
}

/// A causal first position sees only itself: its output is its own value.
TEST_F(AttentionTest, TheFirstPositionAttendsToItself) {
  const AttentionSettings settings = grouped();
  const Tensor qkv = random({4, 1, 16});
  const std::vector<double> x = test::values_of(qkv);
  Context cx = context();
  const Var y = attention(cx, autograd::variable(qkv), settings);
  EXPECT_EQ(y.shape(), (Shape{4, 1, 8}));
  const std::vector<double> o = test::values_of(y.value);
  for (std::size_t head = 0; head < 4; ++head) {
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(o[2 * head + i], x[8 * (head / 2) + 6 + i], 1e-12);
    }
  }
}

}  // namespace attention_test
}  // namespace mpitron::ops
