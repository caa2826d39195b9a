#include "nn/layers/transformer_layer.h"

#include "nn/layer_fixture.h"
#include "ops/gradient_check.h"

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

TEST_F(TransformerLayerTest, MayHaveNormsBehindItsBranches) {
  config_.post_self_attn_layernorm = config_.post_mlp_layernorm = true;
  config_.normalization = config::Normalization::rms_norm;
  config_.add_bias_linear = config_.add_qkv_bias = false;
  const TransformerLayer layer(builder_, 1);
  EXPECT_EQ(names(), (std::vector<std::string>{
                         "input_layernorm.weight", "self_attention.linear_proj.weight",
                         "self_attention.linear_qkv.weight", "post_self_attn_layernorm.weight",
                         "pre_mlp_layernorm.weight", "mlp.linear_fc1.weight",
                         "mlp.linear_fc2.weight", "post_mlp_layernorm.weight"}));
}

/// What is added is normed: with weights of zero nothing is.
TEST_F(TransformerLayerTest, ANormBehindABranchIsBehindItsBias) {
  config_.post_self_attn_layernorm = config_.post_mlp_layernorm = true;
  config_.normalization = config::Normalization::rms_norm;
  const TransformerLayer layer(builder_, 1);
  initialize();
  for (const char* name : {"post_self_attn_layernorm.weight", "post_mlp_layernorm.weight"}) {
    test::set_values(parameters_.find(name)->value, std::vector<double>(16, 0));
  }
  for (const char* name : {"self_attention.linear_proj.bias", "mlp.linear_fc2.bias"}) {
    test::set_values(parameters_.find(name)->value, std::vector<double>(16, 1));
  }
  Context cx = context();
  const Var x = input();
  EXPECT_EQ(test::bits_of(layer.forward(cx, x, {}).value), test::bits_of(x.value));
}

}  // namespace transformer_layer_test

namespace norms_behind_branches_test {

using NormsBehindBranchesTest = ops::GradientCheck;

/// Central differences of a whole layer in fp64, with biases in front of the norms.
TEST_F(NormsBehindBranchesTest, GradientsAreThoseOfTheValues) {
  config::ModelConfig config;
  config.num_layers = 1;
  config.hidden_size = 8;
  config.ffn_hidden_size = 6;
  config.num_attention_heads = config.num_query_groups = 2;
  config.kv_channels = 3;
  config.softmax_scale = 0.5;
  config.hidden_dropout = config.attention_dropout = 0;
  config.params_dtype = DType::f64;
  config.gated_linear_unit = config.apply_layernorm_1p = true;
  config.post_self_attn_layernorm = config.post_mlp_layernorm = true;
  config.normalization = config::Normalization::rms_norm;
  const comm::ParallelGroups groups = comm::groups_of_one(*comm::make_single_world());
  autograd::ParameterList list;
  const Builder builder({config, groups, list});
  const TransformerLayer layer(builder, 1);
  for (autograd::Parameter& parameter : list) {
    ops::initialize(*device_, parameter, DType::f64, 3);
    test::set_values(parameter.value, test::test_values(parameter.value.numel(), 5));
    parameter.sink.main_grad = Tensor::empty(*device_, parameter.shape, DType::f64);
  }
  expect_gradients({random({4, 2, 8})}, [&](Context& context, const std::vector<Var>& x) {
    context.recorder.usage = nullptr;  // the layer's parameters are not the fixture's
    return layer.forward(context, x[0], {});
  });
}

}  // namespace norms_behind_branches_test
}  // namespace mpitron::nn
