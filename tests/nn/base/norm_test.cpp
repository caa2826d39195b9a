#include "nn/base/norm.h"

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace norm_test {

using NormTest = LayerTest;

TEST_F(NormTest, LayerNormHasABiasAndRmsNormHasNone) {
  const Norm layer(builder_, "input_layernorm", 16);
  EXPECT_EQ(names(), (std::vector<std::string>{"input_layernorm.weight", "input_layernorm.bias"}));
  EXPECT_FALSE(layer.parameters().rms);
  config_.normalization = config::Normalization::rms_norm;
  const Norm rms(builder_, "rms", 16);
  EXPECT_EQ(parameters_.size(), 3u);
  EXPECT_TRUE(rms.parameters().rms);
  EXPECT_EQ(rms.parameters().beta, nullptr);
}

TEST_F(NormTest, TakesEpsilonAndZeroCentredWeightsFromTheConfiguration) {
  config_.norm_epsilon = 0.25;
  config_.apply_layernorm_1p = true;
  const Norm norm(builder_, "n", 16);
  EXPECT_EQ(norm.parameters().eps, 0.25f);
  EXPECT_EQ(norm.parameters().gamma_offset, 1);
}

TEST_F(NormTest, TheResultHasTheModelsType) {
  config_.params_dtype = DType::bf16;
  const Norm norm(builder_, "n", 16);
  initialize();
  Context cx = context();
  EXPECT_EQ(norm.forward(cx, input()).value.dtype(), DType::bf16);
}

}  // namespace norm_test
}  // namespace mpitron::nn
