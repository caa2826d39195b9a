#include "convert/description/recurrent_config.h"

#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace recurrent_config_test {

using test::model_of;
using test::refusal;
using test::with;

TEST(RecurrentConfig, ReadsLettersByPatternAndByName) {
  const config::ModelConfig model = model_of(with("nemotron_h", {}));
  EXPECT_EQ(model.kind, config::ModelKind::mamba);
  EXPECT_EQ(model.hybrid.pattern, "M*-M");
  EXPECT_EQ(model.num_layers, 4);
  EXPECT_EQ(model.hybrid.mamba.groups, 2);
  EXPECT_EQ(model.hybrid.mamba.state_dim, 5);
  EXPECT_EQ(model.activation, config::ActivationKind::squared_relu);
  const test::Json names = {{"hybrid_override_pattern", nullptr},
                            {"layers_block_type", {"mamba", "attention", "mlp"}}};
  EXPECT_EQ(model_of(with("nemotron_h", names)).hybrid.pattern, "M*-");
}

TEST(RecurrentConfig, RefusesWhatWouldChangeTheModel) {
  const std::tuple<const char*, test::Json, const char*> wrong[] = {
      {"mamba2", {{"n_groups", 2}}, "n_groups"},
      {"mamba2", {{"layer_norm_epsilon", 1e-6}}, "layer_norm_epsilon"},
      {"mamba2", {{"use_conv_bias", false}}, "use_conv_bias"},
      {"mamba2", {{"conv_kernel", 3}}, "conv_kernel"},
      {"mamba2", {{"time_step_limit", {0.0, 0.1}}}, "time_step_limit"},
      {"nemotron_h", {{"hybrid_override_pattern", "ME-M"}}, "ME-M"},
      {"nemotron_h", {{"mlp_hidden_act", "silu"}}, "mlp_hidden_act"},
      {"nemotron_h", {{"n_groups", 4}}, "that groups do not share"},
      {"qwen3_next", {{"layer_types", {"linear_attention"}}}, "another number of layers"},
      {"qwen3_next", {{"norm_topk_prob", false}}, "norm_topk_prob"},
      {"qwen3_next", {{"mlp_only_layers", {"1"}}}, "mlp_only_layers"},
      {"qwen3_next", {{"linear_num_value_heads", 3}}, "key heads do not share"},
  };
  for (const auto& [family, change, part] : wrong) {
    EXPECT_NE(refusal(with(family, change)).find(part), std::string::npos)
        << family << " " << change.dump() << ": " << refusal(with(family, change));
  }
}

}  // namespace recurrent_config_test

}  // namespace mpitron::convert
