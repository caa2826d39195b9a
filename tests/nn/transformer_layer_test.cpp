#include "nn/transformer_layer.h"

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace {

using TransformerLayerTest = LayerTest;

TEST_F(TransformerLayerTest, HasTheReferencesParametersInItsOrder) {
  const TransformerLayer layer(builder_, 1);
  EXPECT_EQ(names(),
            (std::vector<std::string>{
                "input_layernorm.weight", "input_layernorm.bias",
                "self_attention.linear_proj.weight", "self_attention.linear_proj.bias",
                "self_attention.linear_qkv.weight", "self_attention.linear_qkv.bias",
                "pre_mlp_layernorm.weight", "pre_mlp_layernorm.bias", "mlp.linear_fc1.weight",
                "mlp.linear_fc1.bias", "mlp.linear_fc2.weight", "mlp.linear_fc2.bias"}));
}

/// With branches that give nothing, the residual stream passes and so does its gradient.
TEST_F(TransformerLayerTest, TheResidualStreamPasses) {
  const TransformerLayer layer(builder_, 1);
  initialize();
  for (const char* name : {"self_attention.linear_proj.weight", "mlp.linear_fc2.weight"}) {
    const Tensor& weight = parameters_.find(name)->value;
    testing::set_values(weight, std::vector<double>(static_cast<std::size_t>(weight.numel()), 0));
  }
  Tape tape;
  Context cx = context(&tape);
  const Var x = input(), y = layer.forward(cx, x, {});
  EXPECT_EQ(testing::bits_of(y.value), testing::bits_of(x.value));
  const Tensor dy = testing::random_tensor(*device_, y.shape(), DType::f32, 9);
  tape.backward(cx, y.slot, dy);
  EXPECT_EQ(testing::values_of(x.slot.gradient()), testing::values_of(dy));
}

TEST_F(TransformerLayerTest, LayersDrawTheirOwnMasks) {
  config_.hidden_dropout = 0.5;
  const auto output = [&](Index number) {
    parameters_ = {};
    const TransformerLayer layer(builder_, number);
    return step([&](Context& context, const Var& x) { return layer.forward(context, x, {}); });
  };
  EXPECT_EQ(output(1), output(1));
  EXPECT_NE(output(1), output(2));
}

}  // namespace
}  // namespace mpitron::nn
