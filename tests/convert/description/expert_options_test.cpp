#include <gtest/gtest.h>

#include "convert/description/stored_options.h"

namespace mpitron::convert {
namespace expert_options_test {

std::optional<config::MoeConfig> read(const char* text) {
  config::ModelConfig model;
  model.num_layers = 2;
  model.ffn_hidden_size = 16;
  return read_experts(StoredOptions(text, "x"), model);
}

TEST(ExpertOptions, AreReadAsARunLeavesThem) {
  const auto moe = read(R"x({"num_experts": 4, "moe_layer_freq": "([0]*1+[1]*1)",
                             "moe_router_load_balancing_type": ["aux_loss", "sinkhorn"],
                             "moe_router_num_groups": null})x");
  ASSERT_TRUE(moe);
  EXPECT_EQ(moe->layers, (std::vector<bool>{false, true}));
  EXPECT_EQ(moe->ffn_hidden_size, 16);
  EXPECT_TRUE(moe->sinkhorn);
  EXPECT_FALSE(moe->num_groups);
  EXPECT_EQ(read(R"({"num_experts": 4, "moe_layer_freq": 2})")->layers,
            (std::vector<bool>{true, false}));
  EXPECT_FALSE(read(R"({"num_experts": null})"));
}

TEST(ExpertOptions, AreReadAsTheyWereWritten) {
  const auto moe = read(R"({"num_experts": 4, "moe_router_topk": 2, "moe_layer_freq": [0, 1],
                            "moe_router_score_function": "sigmoid", "moe_router_num_groups": 2,
                            "moe_shared_expert_intermediate_size": 8})");
  JsonObject json;
  write_experts(*moe, json);
  const std::string text = json.dump();
  JsonObject again;
  write_experts(*read(text.c_str()), again);
  EXPECT_EQ(again.dump(), text);
  EXPECT_EQ(json.text("moe_layer_freq"), "[0,1]");
  EXPECT_EQ(json.size("moe_router_topk"), 2);
}

}  // namespace expert_options_test
}  // namespace mpitron::convert
