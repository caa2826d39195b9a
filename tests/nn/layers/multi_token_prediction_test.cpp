#include "nn/layers/multi_token_prediction.h"

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace multi_token_prediction_test {

class MultiTokenPredictionTest : public LayerTest {
 protected:
  Var embedded() const {
    return autograd::variable(test::random_tensor(*device_, {5, 2, 16}, DType::f32, 9));
  }
  Step depth_step() {
    parameters_ = {};
    const MultiTokenPrediction depth(builder_, 5);
    return step(
        [&](Context& context, const Var& x) { return depth.forward(context, x, embedded(), {}); });
  }
};

TEST_F(MultiTokenPredictionTest, CreatesTheReferencesParametersInItsOrder) {
  config_.normalization = config::Normalization::rms_norm;
  config_.add_bias_linear = config_.add_qkv_bias = false;
  const MultiTokenPrediction depth(builder_, 5);
  const std::string layer = "transformer_layer.";
  EXPECT_EQ(
      names(),
      (std::vector<std::string>{
          "enorm.weight", "hnorm.weight", "eh_proj.weight", layer + "input_layernorm.weight",
          layer + "self_attention.linear_proj.weight", layer + "self_attention.linear_qkv.weight",
          layer + "pre_mlp_layernorm.weight", layer + "mlp.linear_fc1.weight",
          layer + "mlp.linear_fc2.weight", "final_layernorm.weight"}));
  EXPECT_EQ(parameters_.find("eh_proj.weight")->shape, (Shape{16, 32}));
  EXPECT_EQ(depth.number(), 5);
}

TEST_F(MultiTokenPredictionTest, BothInputsGetGradients) {
  const MultiTokenPrediction depth(builder_, 5);
  initialize();
  Tape tape;
  Context cx = context(&tape);
  const Var hidden = input(), words = embedded();
  const Var y = depth.forward(cx, hidden, words, {});
  tape.backward(cx, y.slot, test::random_tensor(*device_, y.shape(), DType::f32, 8));
  for (const Var& x : {hidden, words}) {
    double squares = 0;
    for (const double value : test::values_of(x.slot.gradient())) {
      squares += value * value;
    }
    EXPECT_GT(squares, 1e-6);
  }
}

TEST_F(MultiTokenPredictionTest, RecomputationChangesNoBit) {
  config_.hidden_dropout = config_.attention_dropout = 0.2;
  const Step kept = depth_step();
  config_.recompute_granularity = config::RecomputeGranularity::full;
  config_.recompute_method = config::RecomputeMethod::uniform;
  config_.recompute_num_layers = 1;
  EXPECT_EQ(depth_step(), kept);
}

}  // namespace multi_token_prediction_test
}  // namespace mpitron::nn
