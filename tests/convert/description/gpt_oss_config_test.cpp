#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace gpt_oss_config_test {

using test::model_of;
using test::refusal;
using test::with;

TEST(GptOssConfig, ReadsSinksWindowsAndTheActivation) {
  const config::ModelConfig model = model_of(with("gpt_oss", {}));
  EXPECT_EQ(model.attention_sink, config::AttentionSink::learned);
  EXPECT_EQ(model.window_size, (std::array<Index, 2>{2, 0}));
  EXPECT_EQ(model.window_layers, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(model.activation, config::ActivationKind::quick_gelu);
  EXPECT_EQ(model.activation_clamp, 7);
  EXPECT_EQ(model.glu_linear_offset, 1);
  EXPECT_TRUE(model.add_bias_linear && model.add_qkv_bias);
  EXPECT_EQ(model.rope_type, config::RopeType::yarn);
  EXPECT_EQ(model.rotary_scaling_factor, 32);
  EXPECT_FALSE(model.yarn_whole_dimensions);
  EXPECT_EQ(model.moe->num_experts, 4);
}

TEST(GptOssConfig, EveryOtherLayerHasAWindowWithoutAList) {
  const test::Json change = {{"layer_types", nullptr}, {"num_hidden_layers", 4}};
  EXPECT_EQ(model_of(with("gpt_oss", change)).window_layers,
            (std::vector<bool>{true, false, true, false}));
}

TEST(GptOssConfig, TakesFourBitsAndNoOtherQuantisation) {
  const auto quantised = [](const char* method) {
    return refusal(with("gpt_oss", {{"quantization_config", {{"quant_method", method}}}}));
  };
  EXPECT_EQ(quantised("mxfp4"), "");
  EXPECT_NE(quantised("gptq").find("quantized"), std::string::npos);
}

TEST(GptOssConfig, RefusesWhatWouldChangeTheModel) {
  const std::pair<test::Json, const char*> wrong[] = {
      {{{"swiglu_limit", 5.0}}, "swiglu_limit"},
      {{{"attention_bias", false}}, "attention_bias"},
      {{{"layer_types", {"sliding_attention"}}}, "another number of layers"},
      {{{"layer_types", {"full_attention", "full_attention", "chunked"}}}, "layer_types"},
      {{{"num_experts_per_tok", 5}}, "more experts"},
      {{{"rope_scaling", {{"rope_type", "longrope"}}}}, "longrope"},
  };
  for (const auto& [change, part] : wrong) {
    EXPECT_NE(refusal(with("gpt_oss", change)).find(part), std::string::npos)
        << change.dump() << ": " << refusal(with("gpt_oss", change));
  }
}

}  // namespace gpt_oss_config_test
}  // namespace mpitron::convert
