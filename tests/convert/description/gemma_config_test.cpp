#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace gemma_config_test {

using test::model_of;
using test::refusal;
using test::with;

TEST(GemmaConfig, ReadsNormsWindowsAndBothKindsOfPositions) {
  const config::ModelConfig model = model_of(with("gemma3_text", {}));
  EXPECT_TRUE(model.post_self_attn_layernorm && model.post_mlp_layernorm && model.qk_layernorm);
  EXPECT_TRUE(model.apply_layernorm_1p && model.scale_embeddings && model.gated_linear_unit);
  EXPECT_EQ(model.activation, config::ActivationKind::gelu_tanh);
  EXPECT_EQ(model.window_size, (std::array<Index, 2>{2, 0}));
  EXPECT_EQ(model.window_layers, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(model.rotary_base, 1000000);
  EXPECT_EQ(model.rotary_base_local, 10000);
  EXPECT_EQ(model.rotary_seq_len_interpolation_factor, 8);
  EXPECT_EQ(model.kv_channels, 8);
  EXPECT_DOUBLE_EQ(model.softmax_scale, 1 / std::sqrt(12.0));
  EXPECT_FALSE(model.untie_embeddings_and_output_weights || model.add_bias_linear);
}

/// Without a list five of six layers have a window; newer files have an object for each kind.
TEST(GemmaConfig, ReadsOlderAndNewerSpellings) {
  const test::Json older = {{"layer_types", nullptr}, {"num_hidden_layers", 7}};
  EXPECT_EQ(model_of(with("gemma3_text", older)).window_layers,
            (std::vector<bool>{true, true, true, true, true, false, true}));
  test::Json newer = with("gemma3_text", {});
  for (const char* name : {"rope_theta", "rope_local_base_freq", "rope_scaling"}) {
    newer.erase(name);
  }
  EXPECT_NE(refusal(newer).find("rope_theta"), std::string::npos);
  newer["rope_parameters"] = {
      {"full_attention", {{"rope_type", "linear"}, {"factor", 4.0}, {"rope_theta", 500.0}}},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 70.0}}}};
  const config::ModelConfig model = model_of(newer);
  EXPECT_EQ(model.rotary_base, 500);
  EXPECT_EQ(model.rotary_base_local, 70);
  EXPECT_EQ(model.rotary_seq_len_interpolation_factor, 4);
}

TEST(GemmaConfig, TheSecondBoundsScoresAndLogits) {
  const test::Json older = {{"layer_types", nullptr}, {"num_hidden_layers", 4}};
  const config::ModelConfig model = model_of(with("gemma2", older));
  EXPECT_EQ(model.attn_logit_softcapping, 2);
  EXPECT_EQ(model.final_logit_softcapping, 3);
  EXPECT_EQ(model.window_layers, (std::vector<bool>{true, false, true, false}));
  EXPECT_FALSE(model.qk_layernorm || model.rotary_base_local);
  EXPECT_FALSE(model_of(with("gemma2", {{"attn_logit_softcapping", nullptr}}))
                   .attn_logit_softcapping.has_value());
}

TEST(GemmaConfig, RefusesWhatWouldChangeTheModel) {
  const std::pair<test::Json, const char*> wrong[] = {
      {{{"hidden_activation", "gelu"}}, "hidden_activation"},
      {{{"attention_bias", true}}, "attention_bias"},
      {{{"use_bidirectional_attention", true}}, "use_bidirectional_attention"},
      {{{"query_pre_attn_scalar", 0.0}}, "query_pre_attn_scalar"},
      {{{"rope_local_base_freq", 0.5}}, "rope_local_base_freq"},
      {{{"attn_logit_softcapping", -1.0}}, "attn_logit_softcapping"},
  };
  for (const auto& [change, part] : wrong) {
    EXPECT_NE(refusal(with("gemma3_text", change)).find(part), std::string::npos)
        << change.dump() << ": " << refusal(with("gemma3_text", change));
  }
}

TEST(GemmaConfig, OtherFamiliesHaveNoneOfItsParts) {
  ModelDescription gemma =
      read_hugging_face_config(with("gemma3_text", {}).dump(), "config.json", 8);
  EXPECT_EQ(matching_model_type(gemma), "gemma3_text");
  gemma.model.post_mlp_layernorm = false;
  EXPECT_EQ(matching_model_type(gemma), "");
  ModelDescription llama = read_hugging_face_config(with("llama", {}).dump(), "config.json", 8);
  llama.model.scale_embeddings = true;
  EXPECT_EQ(matching_model_type(llama), "");
}

}  // namespace gemma_config_test
}  // namespace mpitron::convert
