#include "nn/attention/cross_attention.h"

#include "nn/layer_fixture.h"
#include "ops/elementwise/bias_dropout_add.h"

namespace mpitron::nn {
namespace cross_attention_test {

class CrossAttentionTest : public LayerTest {
 protected:
  LayerInputs inputs(const Var& encoder) const {
    return {.rotary = {},
            .attention_mask = {},
            .memory = Memory{.states = encoder,
                             .mask = test::make_mask(*device_, {2, 1, 3}, {0, 0, 1, 0, 0, 0})}};
  }
  Var encoder_output(unsigned seed = 9) const {
    return autograd::variable(test::random_tensor(*device_, {3, 2, 16}, DType::f32, seed));
  }
};

TEST_F(CrossAttentionTest, HasTheReferencesParameters) {
  const CrossAttention layer(builder_, 1);
  EXPECT_EQ(names(),
            (std::vector<std::string>{"linear_proj.weight", "linear_proj.bias", "linear_q.weight",
                                      "linear_q.bias", "linear_kv.weight", "linear_kv.bias"}));
  EXPECT_EQ(parameters_.find("linear_kv.weight")->shape, (Shape{2 * 2 * 4, 16}));  // 2 groups of 4
}

TEST_F(CrossAttentionTest, BothSidesLearn) {
  const CrossAttention layer(builder_, 1);
  const Var encoder = encoder_output();
  step([&](Context& cx, const Var& x) {
    const BranchOutput branch = layer.forward(cx, x, inputs(encoder));
    return ops::bias_dropout_add(cx, branch.output, branch.bias, x, {});
  });
  const std::vector<double> gradient = test::values_of(encoder.slot.gradient());
  EXPECT_NE(gradient[0], 0);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(gradient[(2 * 2 + 0) * 16 + i], 0) << "a hidden position of the first sample";
    EXPECT_NE(gradient[(2 * 2 + 1) * 16 + i], 0);
  }
}

TEST_F(CrossAttentionTest, HiddenPositionsDoNotMatter) {
  const CrossAttention layer(builder_, 1);
  initialize();
  Context cx = context();
  const Var a = encoder_output(), b = encoder_output();
  for (Index i = 0; i < 16; ++i) {
    b.value.data<float>()[(2 * 2 + 0) * 16 + i] += 1;
  }
  EXPECT_EQ(test::bits_of(layer.forward(cx, input(), inputs(a)).output.value),
            test::bits_of(layer.forward(cx, input(), inputs(b)).output.value));
}

}  // namespace cross_attention_test
}  // namespace mpitron::nn
