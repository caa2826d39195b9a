#include "nn/layers/transformer_layer.h"

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace transformer_layer_test {

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
    test::set_values(weight, std::vector<double>(static_cast<std::size_t>(weight.numel()), 0));
  }
  Tape tape;
  Context cx = context(&tape);
  const Var x = input(), y = layer.forward(cx, x, {});
  EXPECT_EQ(test::bits_of(y.value), test::bits_of(x.value));
  const Tensor dy = test::random_tensor(*device_, y.shape(), DType::f32, 9);
  tape.backward(cx, y.slot, dy);
  EXPECT_EQ(test::values_of(x.slot.gradient()), test::values_of(dy));
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

/// Neither norm's output lives from forward to backward, and no bit changes.
TEST_F(TransformerLayerTest, RecomputedNormsAreNotKept) {
  Index live = 0;
  const auto layer_step = [&] {
    parameters_ = {};
    const TransformerLayer layer(builder_, 1);
    const Step result = step([&](Context& context, const Var& x) {
      const Index before = device_->allocator().statistics().bytes_in_use;
      const Var y = layer.forward(context, x, {});
      live = device_->allocator().statistics().bytes_in_use - before;
      return y;
    });
    return result;
  };
  for (const bool rms : {false, true}) {
    config_.normalization =
        rms ? config::Normalization::rms_norm : config::Normalization::layer_norm;
    config_.recompute_granularity = config::RecomputeGranularity::none;
    const Step stored = layer_step();
    const Index all = live;
    config_.recompute_granularity = config::RecomputeGranularity::selective;
    config_.recompute_modules = {config::RecomputeModule::layernorm};
    EXPECT_EQ(layer_step(), stored);
    const Index before = device_->allocator().statistics().bytes_in_use;
    const Tensor one = Tensor::empty(*device_, input().shape(), DType::f32);
    EXPECT_EQ(all - live, 2 * (device_->allocator().statistics().bytes_in_use - before));
  }
}

}  // namespace transformer_layer_test
}  // namespace mpitron::nn
