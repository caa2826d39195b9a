#include <gtest/gtest.h>

#include "convert/config_changes.h"
#include "convert/description/config_reading.h"

namespace mpitron::convert {
namespace decoder_config_test {

using test::model_of;
using test::refusal;
using test::with;

TEST(DecoderConfig, ReadsMixtral) {
  const config::ModelConfig model = model_of(with("mixtral", {}));
  ASSERT_TRUE(model.moe);
  EXPECT_EQ(model.moe->num_experts, 4);
  EXPECT_EQ(model.moe->topk, 2);
  EXPECT_EQ(model.moe->ffn_hidden_size, 40);
  EXPECT_EQ(model.moe->count_layers(), 2);
  EXPECT_FALSE(model.moe->pre_softmax) << "the chosen experts' probabilities add up to 1";
  EXPECT_EQ(model.num_query_groups, 2);
  EXPECT_EQ(model_of(with("mixtral", {{"sliding_window", 8}})).max_position_embeddings, 8);
}

TEST(DecoderConfig, ReadsDeepSeek) {
  const config::ModelConfig model = model_of(with("deepseek_v2", {}));
  EXPECT_TRUE(model.multi_latent_attention && model.qk_layernorm);
  EXPECT_EQ(model.q_lora_rank, 12);
  EXPECT_EQ(model.qk_head_dim, 6);
  EXPECT_EQ(model.qk_pos_emb_head_dim, 4);
  EXPECT_EQ(model.rope_type, config::RopeType::yarn);
  EXPECT_EQ(model.rotary_scaling_factor, 4);
  EXPECT_EQ(model.mscale, 0.707);
  ASSERT_TRUE(model.moe);
  EXPECT_EQ(model.moe->layers, (std::vector<bool>{false, true}));
  EXPECT_EQ(model.moe->ffn_hidden_size, 10);
  EXPECT_EQ(model.moe->shared_expert_intermediate_size, 20);
  EXPECT_EQ(model.moe->topk_scaling_factor, 1.5);
  EXPECT_TRUE(model.moe->pre_softmax);
  const config::ModelConfig plain =
      model_of(with("deepseek_v2", {{"q_lora_rank", nullptr}, {"rope_scaling", nullptr}}));
  EXPECT_FALSE(plain.q_lora_rank);
  EXPECT_EQ(plain.rope_type, config::RopeType::rope);
}

/// Groups count by their best expert there, by their best topk / group_topk here.
TEST(DecoderConfig, ReadsGroupsThatCountAlike) {
  const test::Json groups = {
      {"topk_method", "group_limited_greedy"}, {"n_group", 2}, {"topk_group", 2}};
  const config::ModelConfig model = model_of(with("deepseek_v2", groups));
  EXPECT_EQ(model.moe->num_groups, 2);
  EXPECT_EQ(model.moe->group_topk, 2);
  const std::string again = write_hugging_face_config(
      read_hugging_face_config(with("deepseek_v2", groups).dump(), "x", 8), "deepseek_v2");
  for (const auto& [name, value] : groups.items()) {
    EXPECT_EQ(test::Json::parse(again).at(name), value);
  }
}

TEST(DecoderConfig, RefusesWhatWouldChangeTheModel) {
  const std::pair<test::Json, const char*> wrong[] = {
      {{{"norm_topk_prob", true}}, "norm_topk_prob"},
      {{{"scoring_func", "sigmoid"}}, "scoring_func"},
      {{{"topk_method", "noaux_tc"}}, "topk_method"},
      {{{"topk_method", "group_limited_greedy"}, {"n_group", 2}, {"topk_group", 1}}, "best expert"},
      {{{"rms_norm_eps", 1e-5}}, "rms_norm_eps"},
      {{{"attention_bias", true}}, "attention_bias"},
      {{{"first_k_dense_replace", 2}}, "first_k_dense_replace"},
      {{{"moe_layer_freq", 2}}, "moe_layer_freq"},
      {{{"num_experts_per_tok", 5}}, "more experts"},
      {{{"num_key_value_heads", 1}}, "key-value heads"},
      {{{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}}, "linear"},
      {{{"rope_scaling", {{"type", "yarn"}, {"factor", 2}}}}, "YaRN"},
      {{{"n_shared_experts", nullptr}}, "n_shared_experts"},
      {{{"kv_lora_rank", 0}}, "kv_lora_rank"},
  };
  for (const auto& [change, part] : wrong) {
    EXPECT_NE(refusal(with("deepseek_v2", change)).find(part), std::string::npos)
        << change.dump() << ": " << refusal(with("deepseek_v2", change));
  }
  EXPECT_NE(refusal(with("mixtral", {{"num_experts_per_tok", 5}})), "");
}

}  // namespace decoder_config_test
}  // namespace mpitron::convert
