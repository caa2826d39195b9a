#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace qwen3_next_config_test {

using test::model_of;
using test::with;

TEST(Qwen3NextConfig, ReadsDeltaNetsByListAndByInterval) {
  const config::ModelConfig model = model_of(with("qwen3_next", {}));
  EXPECT_EQ(model.hybrid.delta_layers, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(model.hybrid.delta_net.value_heads, 4);
  EXPECT_EQ(model.rotary_percent, 0.5);
  EXPECT_TRUE(model.attention_output_gate && model.moe->shared_expert_gate);
  const test::Json every = {{"layer_types", nullptr}, {"full_attention_interval", 3}};
  EXPECT_EQ(model_of(with("qwen3_next", every)).hybrid.delta_layers,
            (std::vector<bool>{true, true, false}));
}

}  // namespace qwen3_next_config_test

}  // namespace mpitron::convert
