#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_attention_test {

using test::parse_base;

TEST(ResolveAttention, Biases) {
  EXPECT_TRUE(parse_base("").run.model.add_qkv_bias);
  EXPECT_FALSE(parse_base("--disable-bias-linear").run.model.add_qkv_bias);
  EXPECT_TRUE(parse_base("--disable-bias-linear --add-qkv-bias").run.model.add_qkv_bias);
}

TEST(ResolveAttention, LayersWithoutRotation) {
  const std::string rope = "--position-embedding-type rope ";
  EXPECT_TRUE(parse_base(rope).run.model.no_rope_layers.empty());
  EXPECT_EQ(parse_base(rope + "--no-rope-freq 2").run.model.no_rope_layers,
            (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(parse_base(rope + "--no-rope-freq [1,0,0,1]").run.model.no_rope_layers,
            (std::vector<bool>{true, false, false, true}));
}

}  // namespace resolve_attention_test

}  // namespace mpitron::config
