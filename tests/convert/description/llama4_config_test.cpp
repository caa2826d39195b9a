#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace llama4_config_test {

using test::model_of;
using test::refusal;
using test::with;

const std::string kFamily = "llama4_text";

TEST(Llama4Config, ReadsRotatingLayersAndExperts) {
  const config::ModelConfig model = model_of(with(kFamily, {}));
  EXPECT_EQ(model.no_rope_layers, (std::vector<bool>{false, false, true}));
  EXPECT_TRUE(model.qk_l2_norm && model.qk_l2_norm_with_rope_only && model.rotary_interleaved);
  EXPECT_EQ(model.ffn_hidden_size, 28);
  EXPECT_EQ(model.rope_scaling_high_freq_factor, 1);
  ASSERT_TRUE(model.moe.has_value());
  EXPECT_EQ(model.moe->layers, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(model.moe->ffn_hidden_size, 20);
  EXPECT_EQ(model.moe->shared_expert_intermediate_size, 20);
  EXPECT_EQ(model.moe->score, config::RouterScore::sigmoid);
  EXPECT_TRUE(model.moe->apply_probs_on_input);
}

TEST(Llama4Config, ReadsFilesWithoutLists) {
  const test::Json change = {{"no_rope_layers", nullptr},
                             {"moe_layers", nullptr},
                             {"interleave_moe_layer_step", 2},
                             {"num_hidden_layers", 5}};
  const config::ModelConfig model = model_of(with(kFamily, change));
  EXPECT_EQ(model.no_rope_layers, (std::vector<bool>{false, false, false, true, false}));
  EXPECT_EQ(model.moe->layers, (std::vector<bool>{false, true, false, true, false}));
  EXPECT_FALSE(model_of(with(kFamily, {{"use_qk_norm", false}})).qk_l2_norm);
}

TEST(Llama4Config, ReadsChunksAndScalesOfLongSequences) {
  const config::ModelConfig model = model_of(with(kFamily, {{"max_position_embeddings", 1000000},
                                                            {"attention_chunk_size", 64},
                                                            {"floor_scale", 100},
                                                            {"attn_scale", 0.2}}));
  EXPECT_EQ(model.max_position_embeddings, 1000000);
  EXPECT_EQ(model.attention_chunk_size, 64);
  ASSERT_TRUE(model.query_scale.has_value());
  EXPECT_EQ(model.query_scale->floor, 100);
  EXPECT_EQ(model.query_scale->growth, 0.2);
  const config::ModelConfig plain = model_of(
      with(kFamily, {{"attn_temperature_tuning", false}, {"attention_chunk_size", nullptr}}));
  EXPECT_FALSE(plain.attention_chunk_size || plain.query_scale);
  EXPECT_TRUE(model_of(with(kFamily, {{"attn_temperature_tuning", 4}})).query_scale);
}

TEST(Llama4Config, WritesWhatTheModelComputes) {
  ModelDescription description = read_hugging_face_config(
      with(kFamily, {{"layer_types", {"chunked_attention", "chunked_attention", "full_attention"}}})
          .dump(),
      "config.json", 8);
  const auto written = [&] {
    return test::Json::parse(write_hugging_face_config(description, kFamily));
  };
  description.model.attention_chunk_size = 12;
  description.model.query_scale = {.floor = 20};
  EXPECT_EQ(written().at("attention_chunk_size"), 12);
  EXPECT_EQ(written().at("attn_temperature_tuning"), true);
  EXPECT_EQ(written().at("floor_scale"), 20);
  EXPECT_EQ(written().at("layer_types")[0], "chunked_attention");
  description.model.attention_chunk_size.reset();
  description.model.query_scale.reset();
  EXPECT_TRUE(written().at("attention_chunk_size").is_null());
  EXPECT_EQ(written().at("attn_temperature_tuning"), false);
  EXPECT_EQ(written().at("layer_types")[0], "full_attention");
}

TEST(Llama4Config, RefusesWhatWouldChangeTheModel) {
  const std::pair<test::Json, const char*> wrong[] = {
      {{{"num_experts_per_tok", 2}}, "num_experts_per_tok"},
      {{{"no_rope_layers", {1, 0}}}, "no_rope_layers"},
      {{{"moe_layers", test::Json::array()}}, "no layer with experts"},
      {{{"attention_bias", true}}, "attention_bias"},
      {{{"attn_scale", 0.0}}, "attn_scale"},
      {{{"layer_types", {"full_attention", "chunked_attention", "full_attention"}}}, "layer_types"},
      {{{"hidden_act", "gelu"}}, "silu"},
  };
  for (const auto& [change, part] : wrong) {
    EXPECT_NE(refusal(with(kFamily, change)).find(part), std::string::npos)
        << change.dump() << ": " << refusal(with(kFamily, change));
  }
}

TEST(Llama4Config, OtherFamiliesDoNotHaveItsLayers) {
  ModelDescription description =
      read_hugging_face_config(with(kFamily, {}).dump(), "config.json", 8);
  EXPECT_EQ(matching_model_type(description), kFamily);
  description.model.qk_l2_norm_with_rope_only = false;
  EXPECT_EQ(matching_model_type(description), "");
}

}  // namespace llama4_config_test
}  // namespace mpitron::convert
