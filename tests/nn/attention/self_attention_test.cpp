#include "nn/attention/self_attention.h"

#include "nn/attention/rotary_embedding.h"
#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace self_attention_test {

class SelfAttentionTest : public LayerTest {
 protected:
  Step attention_step(const LayerInputs& inputs, Index number = 1) {
    parameters_ = {};
    const SelfAttention attention(builder_, number);
    return step([&](Context& context, const Var& x) {
      return attention.forward(context, x, inputs).output;
    });
  }
};

TEST_F(SelfAttentionTest, FusesQueriesKeysAndValuesOfTheGroups) {
  config_.add_bias_linear = false;
  const SelfAttention attention(builder_, 1);
  EXPECT_EQ(parameters_.find("linear_qkv.weight")->shape, (Shape{(4 + 2 * 2) * 4, 16}));
  EXPECT_NE(parameters_.find("linear_qkv.bias"), nullptr);  // --add-qkv-bias alone
  EXPECT_EQ(parameters_.find("linear_proj.bias"), nullptr);
  EXPECT_EQ(parameters_.find("q_layernorm.weight"), nullptr);
}

TEST_F(SelfAttentionTest, QkNormsAreSharedByAllHeads) {
  config_.qk_layernorm = true;
  config_.normalization = config::Normalization::rms_norm;
  const SelfAttention attention(builder_, 1);
  EXPECT_EQ(parameters_.find("q_layernorm.weight")->shape, Shape{4});
  EXPECT_EQ(parameters_.find("k_layernorm.weight")->shape, Shape{4});
}

TEST_F(SelfAttentionTest, QkNormsChangeTheResult) {
  const Step plain = attention_step({});
  config_.qk_l2_norm = true;
  EXPECT_NE(attention_step({}), plain);
  config_.qk_layernorm = true;
  EXPECT_NE(attention_step({}), plain);
}

TEST_F(SelfAttentionTest, NormsWithoutWeightsMayBeOfRotatingLayersAlone) {
  config_.no_rope_layers = {false, true, false, false};
  const Step plain = attention_step({}, 1);
  config_.qk_l2_norm = true;
  const Step normed = attention_step({}, 1);
  EXPECT_NE(normed, plain);
  EXPECT_EQ(attention_step({}, 2), normed);
  config_.qk_l2_norm_with_rope_only = true;
  EXPECT_EQ(attention_step({}, 1), normed);
  EXPECT_EQ(attention_step({}, 2), plain);
}

TEST_F(SelfAttentionTest, RotatesUnlessTheLayerHasNoRope) {
  const ops::RotaryTables tables = make_rotary_tables(*device_, config_, 5, DType::f32);
  const Step plain = attention_step({}), rotated = attention_step({.rotary = tables});
  EXPECT_NE(rotated, plain);
  config_.no_rope_layers = {false, true, false, false};
  EXPECT_EQ(attention_step({.rotary = tables}, 1), rotated);
  EXPECT_EQ(attention_step({.rotary = tables}, 2), plain);
}

TEST_F(SelfAttentionTest, SeesNoLaterPosition) {
  const SelfAttention attention(builder_, 1);
  initialize();
  Context cx = context();
  const Var x = input();
  const std::vector<double> before = test::values_of(attention.forward(cx, x, {}).output.value);
  x.value.data<float>()[4 * 2 * 16] += 1;  // the last position of sample 0
  const std::vector<double> after = test::values_of(attention.forward(cx, x, {}).output.value);
  for (std::size_t i = 0; i < 4 * 2 * 16; ++i) {
    EXPECT_EQ(after[i], before[i]);
  }
  EXPECT_NE(after, before);
}

TEST_F(SelfAttentionTest, AWindowAndAMaskHideEarlierPositions) {
  const Step full = attention_step({});
  config_.window_size = {{1, 0}};
  const Step windowed = attention_step({});
  EXPECT_NE(windowed, full);
  config_.window_size = {{4, 0}};
  EXPECT_EQ(attention_step({}), full);
  config_.window_size = {};
  std::vector<std::uint8_t> hidden(25);
  for (std::size_t i = 0; i < 25; ++i) {
    hidden[i] = i % 5 + 1 < i / 5;
  }
  const LayerInputs masked{.rotary = {},
                           .attention_mask = test::make_mask(*device_, {1, 5, 5}, hidden)};
  EXPECT_EQ(attention_step(masked).output, windowed.output);
}

TEST_F(SelfAttentionTest, LayersThatRotateAttendWithinChunks) {
  const Step full = attention_step({});
  config_.no_rope_layers = {false, true, false, false};
  config_.attention_chunk_size = 2;
  std::vector<std::uint8_t> hidden(25);
  for (std::size_t i = 0; i < 25; ++i) {
    hidden[i] = i % 5 / 2 != i / 5 / 2;
  }
  const Step chunked = attention_step({}, 1);
  EXPECT_EQ(attention_step({}, 2), full);
  config_.attention_chunk_size.reset();
  const LayerInputs masked{.rotary = {},
                           .attention_mask = test::make_mask(*device_, {1, 5, 5}, hidden)};
  EXPECT_EQ(attention_step(masked).output, chunked.output);
}

TEST_F(SelfAttentionTest, LayersThatDoNotRotateScaleQueries) {
  config_.no_rope_layers = {false, true, false, false};
  config_.query_scale = {.floor = 2};
  LayerInputs inputs;
  const Step plain = attention_step(inputs, 2);
  inputs.query_factors = make_query_factors(*device_, config_, 5);
  EXPECT_EQ(attention_step(inputs, 1), plain);
  const Step scaled = attention_step(inputs, 2);
  EXPECT_NE(scaled, plain);
  EXPECT_EQ(scaled.output[0], plain.output[0]);  // position 0 has a factor of 1
}

TEST_F(SelfAttentionTest, LayersWithAWindowHaveRotaryTablesOfTheirOwn) {
  config_.window_size = {{2, 0}};
  config_.window_layers = {true, false, true, true};
  config_.rotary_base_local = 10;
  const ops::RotaryTables slow = make_rotary_tables(*device_, config_, 5, DType::f32);
  const ops::RotaryTables fast = make_window_rotary_tables(*device_, config_, 5, DType::f32);
  LayerInputs both{.rotary = slow};
  both.window_rotary = fast;
  EXPECT_EQ(attention_step(both, 1), attention_step({.rotary = fast}, 1));
  EXPECT_EQ(attention_step(both, 2), attention_step({.rotary = slow}, 2));
  EXPECT_NE(attention_step(both, 1), attention_step({.rotary = slow}, 1));
}

}  // namespace self_attention_test
}  // namespace mpitron::nn
