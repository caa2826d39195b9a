#include "convert/description/model_options.h"

#include <gtest/gtest.h>

#include "convert/description/model_description.h"

namespace mpitron::convert {
namespace model_options_test {

config::ModelConfig read(const std::string& more) {
  return from_configuration(R"({"num_layers": 2, "hidden_size": 8, "num_attention_heads": 4,
                                "max_position_embeddings": 16)" +
                                more + "}",
                            "x")
      .model;
}

TEST(ModelOptions, OnlyThoseThatMatterAreWritten) {
  JsonObject plain, relative;
  write_attention(read(""), plain);
  EXPECT_FALSE(plain.has("relative_attention_num_buckets"));
  EXPECT_FALSE(plain.has("kv_lora_rank"));
  write_attention(read(R"(, "position_embedding_type": "relative",
                           "relative_attention_num_buckets": 16)"),
                  relative);
  EXPECT_EQ(relative.text("position_embedding_type"), "relative");
  EXPECT_EQ(relative.size("relative_attention_num_buckets"), 16);
}

TEST(ModelOptions, ExpertsAreReadAsTheyWereWritten) {
  const auto moe = read(R"(, "num_experts": 4, "moe_router_topk": 2, "moe_layer_freq": [0, 1],
                            "moe_router_score_function": "sigmoid", "moe_router_num_groups": 2,
                            "moe_router_group_topk": 2,
                            "moe_shared_expert_intermediate_size": 8)")
                       .moe;
  JsonObject json, again;
  write_experts(*moe, json);
  const std::string text = json.dump();
  write_experts(*read("," + text.substr(1, text.rfind('}') - 1)).moe, again);
  EXPECT_EQ(again.dump(), text);
  EXPECT_EQ(json.text("moe_layer_freq"), "[0,1]");
  EXPECT_EQ(json.size("moe_router_topk"), 2);
}

TEST(ModelOptions, AnIndexerIsReadAsItWasWritten) {
  const config::ModelConfig model = read(
      R"(, "multi_latent_attention": true, "experimental_attention_variant": "dsa",
           "dsa_indexer_n_heads": 3, "dsa_indexer_head_dim": 128, "dsa_indexer_topk": 7,
           "dsa_indexer_rotate_activation": false, "dsa_indexer_k_norm_epsilon": 0.25)");
  JsonObject json, again;
  write_hybrid(model, json);
  const std::string text = json.dump();
  write_hybrid(read("," + text.substr(1, text.rfind('}') - 1)), again);
  EXPECT_EQ(again.dump(), text);
  EXPECT_EQ(json.size("dsa_indexer_topk"), 7);
  EXPECT_FALSE(json.flag("dsa_indexer_rotate_activation", true));
}

TEST(ModelOptions, WhatGemmasLayersHaveIsReadAsItWasWritten) {
  const config::ModelConfig model = read(
      R"(, "post_mlp_layernorm": true, "position_embedding_type": "rope", "window_size": "3,0",
           "rotary_base_local": 100, "query_pre_attn_scalar": 12.5, "geglu": true,
           "attn_logit_softcapping": 50.0)");
  JsonObject json, plain;
  write_gemma(model, json);
  EXPECT_EQ(json.count(), 4);
  EXPECT_TRUE(json.flag("post_mlp_layernorm", false));
  EXPECT_EQ(json.size("rotary_base_local"), 100);
  EXPECT_EQ(json.real("query_pre_attn_scalar", 0), 12.5);
  write_gemma(read(""), plain);
  EXPECT_EQ(plain.count(), 0);
  write_limits(model, plain);
  EXPECT_TRUE(plain.flag("geglu", false) && !plain.flag("swiglu", true));
}

TEST(ModelOptions, LayersThatDoNotRotateAreReadAsTheyWereWritten) {
  JsonObject json;
  write_attention(read(R"(, "position_embedding_type": "rope", "no_rope_freq": "[0,1]",
                            "attention_chunk_size": 32, "query_scale_floor": 16)"),
                  json);
  EXPECT_EQ(json.text("no_rope_freq"), "[0,1]");
  EXPECT_EQ(json.size("attention_chunk_size"), 32);
  EXPECT_EQ(json.size("query_scale_floor"), 16);
  EXPECT_EQ(json.real("query_scale_growth", 0), 0.1);
}

}  // namespace model_options_test
}  // namespace mpitron::convert
