#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_hybrid_test {

HybridConfig hybrid_of(const std::string& flags) {
  return test::parse_base(flags).run.model.hybrid;
}

TEST(ResolveHybrid, StateSpaceHeadsFillTwiceTheWidth) {
  EXPECT_EQ(
      hybrid_of("--model mamba --hybrid-override-pattern M*-M --mamba-head-dim 16").mamba.heads, 8);
  EXPECT_EQ(
      hybrid_of("--model mamba --hybrid-override-pattern M*-M --mamba-num-heads 4").mamba.heads, 4);
}

TEST(ResolveHybrid, APatternIsOfModelsByLettersAlone) {
  EXPECT_EQ(hybrid_of("--model mamba --hybrid-override-pattern M*-M").pattern, "M*-M");
  EXPECT_EQ(hybrid_of("").pattern, "");
}

TEST(ResolveHybrid, DeltaNetsStandWhereAttentionDoesNot) {
  const std::string delta = "--experimental-attention-variant gated_delta_net ";
  EXPECT_TRUE(hybrid_of("").delta_layers.empty());
  EXPECT_EQ(hybrid_of(delta + "--linear-attention-freq 4").delta_layers,
            (std::vector<bool>{true, true, true, false}));
}

}  // namespace resolve_hybrid_test
}  // namespace mpitron::config
