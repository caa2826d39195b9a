#include <cmath>

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_later_releases_test {

ModelConfig model_of(const std::string& flags) {
  return test::parse_base(flags).run.model;
}

TEST(ResolveLaterReleases, ANumberLeavesEveryNthLayerWhole) {
  EXPECT_TRUE(model_of("--window-size 8,0").window_layers.empty());
  EXPECT_EQ(model_of("--window-size 8,0 --window-attn-skip-freq 4").window_layers,
            (std::vector<bool>{true, true, true, false}));
  EXPECT_EQ(model_of("--window-size 8,0 --window-attn-skip-freq [1,0]*2").window_layers,
            (std::vector<bool>{true, false, true, false}));
}

TEST(ResolveLaterReleases, AWindowIsTwoNumbers) {
  EXPECT_EQ(model_of("--window-size 8,0").window_size, (std::array<Index, 2>{8, 0}));
  EXPECT_FALSE(model_of("").window_size.has_value());
  EXPECT_FALSE(model_of("--window-size 8").window_size.has_value());  // a rule tells it
}

TEST(ResolveLaterReleases, LayersAsGemmas) {
  const ModelConfig model =
      model_of("--geglu --post-self-attn-layernorm --scale-embeddings --query-pre-attn-scalar 25");
  EXPECT_TRUE(model.gated_linear_unit && model.activation == ActivationKind::gelu_tanh);
  EXPECT_TRUE(model.post_self_attn_layernorm && model.scale_embeddings);
  EXPECT_FALSE(model.post_mlp_layernorm || model.rotary_base_local);
  EXPECT_EQ(model.softmax_scale, 0.2);
}

TEST(ResolveLaterReleases, LayersAsLlama4s) {
  const ModelConfig model = model_of("--attention-chunk-size 32 --query-scale-floor 16");
  EXPECT_EQ(model.attention_chunk_size, 32);
  ASSERT_TRUE(model.query_scale.has_value());
  EXPECT_EQ(model.query_scale->floor, 16);
  EXPECT_EQ(model.query_scale->growth, 0.1);
  EXPECT_FALSE(model_of("").attention_chunk_size || model_of("").query_scale);
}

TEST(ResolveLaterReleases, TheWidthOfMupIsRelativeToTheBaseModels) {
  EXPECT_FALSE(model_of("").mup.has_value());
  const auto mup = model_of("--use-mup --mup-base-hidden-size 16").mup;
  ASSERT_TRUE(mup.has_value());
  EXPECT_EQ(mup->width, 4);
  EXPECT_EQ(mup->output_factor, 0.25);
}

}  // namespace resolve_later_releases_test
}  // namespace mpitron::config
