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

}  // namespace model_options_test
}  // namespace mpitron::convert
