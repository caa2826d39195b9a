#include "nn/attention/multi_latent_attention.h"

#include "nn/attention/rotary_embedding.h"
#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace multi_latent_attention_test {

class MultiLatentAttentionTest : public LayerTest {
 protected:
  MultiLatentAttentionTest() {
    config_.multi_latent_attention = true;
    config_.add_bias_linear = false;
    config_.normalization = config::Normalization::rms_norm;
    config_.q_lora_rank = 6;
    config_.kv_lora_rank = 5;
    config_.qk_head_dim = 3;
    config_.qk_pos_emb_head_dim = 4;
    config_.v_head_dim = 7;
  }
  LayerInputs inputs() const {
    return {.rotary = make_rotary_tables(*device_, config_, 5, DType::f32), .attention_mask = {}};
  }
  Step attention_step(const LayerInputs& inputs, Index number = 1) {
    parameters_ = {};
    const MultiLatentAttention attention(builder_, number);
    return step([&](Context& context, const Var& x) {
      return attention.forward(context, x, inputs).output;
    });
  }
};

TEST_F(MultiLatentAttentionTest, CreatesTheReferencesParametersInItsOrder) {
  config_.qk_layernorm = true;
  const MultiLatentAttention attention(builder_, 1);
  EXPECT_EQ(names(), (std::vector<std::string>{
                         "linear_proj.weight", "linear_q_down_proj.weight",
                         "linear_q_up_proj.weight", "linear_kv_down_proj.weight",
                         "linear_kv_up_proj.weight", "q_layernorm.weight", "kv_layernorm.weight"}));
  EXPECT_EQ(parameters_.find("linear_proj.weight")->shape, (Shape{16, 4 * 7}));
  EXPECT_EQ(parameters_.find("linear_q_up_proj.weight")->shape, (Shape{4 * 7, 6}));
  EXPECT_EQ(parameters_.find("linear_kv_down_proj.weight")->shape, (Shape{5 + 4, 16}));
  EXPECT_EQ(parameters_.find("linear_kv_up_proj.weight")->shape, (Shape{4 * 10, 5}));
}

TEST_F(MultiLatentAttentionTest, QueriesNeedNoLatent) {
  config_.q_lora_rank = {};
  config_.qk_layernorm = true;
  const MultiLatentAttention attention(builder_, 1);
  EXPECT_EQ(parameters_.find("linear_q_proj.weight")->shape, (Shape{4 * 7, 16}));
  EXPECT_EQ(parameters_.find("linear_q_down_proj.weight"), nullptr);
  EXPECT_EQ(parameters_.find("q_layernorm.weight"), nullptr);
  EXPECT_NE(parameters_.find("kv_layernorm.weight"), nullptr);
}

/// What a layer keeps instead of its up projections makes them again, bit for bit.
TEST_F(MultiLatentAttentionTest, RecomputedUpProjectionsChangeNoBit) {
  for (const bool compressed : {true, false}) {
    config_.q_lora_rank = compressed ? std::optional<Index>(6) : std::nullopt;
    config_.attention_dropout = 0.2;
    const Step kept = attention_step(inputs());
    config_.recompute_granularity = config::RecomputeGranularity::selective;
    config_.recompute_modules = {config::RecomputeModule::mla_up_proj};
    EXPECT_EQ(attention_step(inputs()), kept);
    config_.recompute_granularity = config::RecomputeGranularity::none;
  }
}

TEST_F(MultiLatentAttentionTest, RotatesUnlessTheLayerHasNoRope) {
  const Step plain = attention_step({}), rotated = attention_step(inputs());
  EXPECT_NE(rotated, plain);
  config_.no_rope_layers = {false, true, false, false};
  EXPECT_EQ(attention_step(inputs(), 1), rotated);
  EXPECT_EQ(attention_step(inputs(), 2), plain);
}

/// YaRN's stretch of positions sharpens the scores.
TEST_F(MultiLatentAttentionTest, StretchedPositionsScaleTheScores) {
  const Step plain = attention_step({});
  config_.rotary_scaling_factor = 4;
  EXPECT_EQ(attention_step({}), plain);
  config_.mscale_all_dim = 1;
  EXPECT_NE(attention_step({}), plain);
}

TEST_F(MultiLatentAttentionTest, SeesNoLaterPosition) {
  const MultiLatentAttention attention(builder_, 1);
  initialize();
  Context cx = context();
  const Var x = input();
  const LayerInputs turned = inputs();
  const auto output = [&] {
    return test::values_of(attention.forward(cx, x, turned).output.value);
  };
  const std::vector<double> before = output();
  x.value.data<float>()[4 * 2 * 16] += 1;  // the last position of sample 0
  const std::vector<double> after = output();
  for (std::size_t i = 0; i < 4 * 2 * 16; ++i) {
    EXPECT_EQ(after[i], before[i]);
  }
  EXPECT_NE(after, before);
}

}  // namespace multi_latent_attention_test
}  // namespace mpitron::nn
