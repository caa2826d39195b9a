#include "config/lora_config.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace lora_config_test {

TEST(LoraConfig, ChoosesModulesByTheEndsOfTheirNames) {
  LoraConfig config{.rank = 4, .alpha = 8, .target_modules = {"q_proj", "layers.1.mlp.up_proj"}};
  const auto updated = [&](const char* module) { return config.update_of(module).has_value(); };
  EXPECT_TRUE(updated("model.layers.0.self_attn.q_proj"));
  EXPECT_FALSE(updated("model.layers.0.self_attn.k_proj"));
  EXPECT_TRUE(updated("model.layers.1.mlp.up_proj"));
  EXPECT_FALSE(updated("model.layers.11.mlp.up_proj"));
  config.target_modules = {"all-linear"};
  EXPECT_TRUE(updated("anything"));
}

TEST(LoraConfig, ChoosesModulesByAnExpression) {
  LoraConfig config{.rank = 4, .alpha = 8, .target_modules = {R"(.*self_attn\.(q|v)_proj)"}};
  EXPECT_TRUE(config.update_of("model.layers.0.self_attn.v_proj"));
  EXPECT_FALSE(config.update_of("model.layers.0.self_attn.k_proj"));
  EXPECT_FALSE(config.update_of("model.layers.0.self_attn.v_proj.more"));
  config.rank_pattern = {{R"(layers\.[12]\.self_attn\.q_proj)", 2}};
  EXPECT_EQ(config.update_of("model.layers.2.self_attn.q_proj")->rank, 2);
  EXPECT_EQ(config.update_of("model.layers.12.self_attn.q_proj")->rank, 4);
  EXPECT_EQ(problem_of_expression("(a|b)"), "");
  EXPECT_NE(problem_of_expression("(a").find("(a"), std::string::npos);
}

TEST(LoraConfig, PatternsReplaceRankAndAlpha) {
  LoraConfig config{.rank = 4,
                    .alpha = 8,
                    .target_modules = {"all-linear"},
                    .rank_pattern = {{"layers.1.q_proj", 16}},
                    .alpha_pattern = {{"v_proj", 2}}};
  EXPECT_EQ(config.update_of("layers.0.q_proj")->scale, 2);
  EXPECT_EQ(config.update_of("layers.1.q_proj")->rank, 16);
  EXPECT_EQ(config.update_of("layers.1.q_proj")->scale, 0.5);
  EXPECT_EQ(config.update_of("layers.1.v_proj")->scale, 0.5);
  config.rank_stabilised = true;
  EXPECT_EQ(config.update_of("layers.1.q_proj")->scale, 2);
}

TEST(LoraConfig, NamesOfPlaces) {
  EXPECT_EQ(module_name("decoder.layers.3.self_attention.q_proj."),
            "model.layers.3.self_attn.q_proj");
  EXPECT_EQ(module_name("decoder.layers.0.mlp.experts.local_experts.2.up_proj."),
            "model.layers.0.mlp.experts.2.up_proj");
}

TEST(LoraConfig, Llama4HasOtherWordsForModules) {
  const std::pair<const char*, const char*> both[] = {
      {"model.layers.0.mlp.up_proj", "model.layers.0.feed_forward.up_proj"},
      {"mlp.shared_experts.gate_proj", "feed_forward.shared_expert.gate_proj"},
      {R"(.*\.mlp\.down_proj)", R"(.*\.feed_forward\.down_proj)"},
      {"layers.1.self_attn.q_proj", "layers.1.self_attn.q_proj"}};
  for (const auto& [llama, llama4] : both) {
    EXPECT_EQ(module_of_llama4(llama), llama4);
    EXPECT_EQ(module_of_llama(llama4), llama);
  }
  EXPECT_EQ(module_of_llama("x.feed_forwards.y"), "x.feed_forwards.y");
  EXPECT_EQ(module_of_llama4("mlps.mlp2.mlp"), "mlps.mlp2.feed_forward");
}

}  // namespace lora_config_test
}  // namespace mpitron::config
