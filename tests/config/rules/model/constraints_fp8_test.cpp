#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_fp8_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--fp8-format hybrid", "E187", "--bf16"},
    {"--fp8-format e4m3 --fp16", "E187", "the run is in fp16"},
    {"--fp8-format e4m3 --bf16 --fp8-margin -1", "E189", "margin -1"},
    {"--fp8-format e4m3 --bf16 --fp8-amax-history-len 0", "E189", "0 steps"},
    {"--fp8-format e4m3 --bf16 --fp8-recipe tensorwise --tp-comm-overlap", "E192",
     "--fp8-recipe delayed"},
    {"--fp8-format e4m3 --bf16 --first-last-layers-bf16 --num-layers-at-start-in-bf16 9", "E193",
     "9 + 1 of"},
    {"--fp8-recipe blockwise", "E194", "given: --fp8-recipe"},
    {"--no-fp8-wgrad --fp8-margin 1", "E194", "given: --no-fp8-wgrad, --fp8-margin"},
    {"--num-experts 4 --moe-router-padding-for-fp8", "E194", "given: --moe-router-padding-for-fp8"},
    {"--fp8-format e4m3 --bf16 --fp8-recipe blockwise --fp8-amax-compute-algo max", "E194",
     "--fp8-recipe delayed"},
};

TEST(Fp8Constraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(Fp8Constraints, EveryRuleHasAnExample) {
  test::expect_examples(fp8_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--bf16 --fp8-format hybrid",
    "--bf16 --fp8-format e4m3 --fp8-recipe tensorwise --no-fp8-wgrad",
    "--bf16 --fp8-format hybrid --fp8-recipe blockwise --multi-latent-attention",
    "--bf16 --fp8-format hybrid --fp8-margin 2 --fp8-amax-history-len 16 "
    "--fp8-amax-compute-algo max",
    "--bf16 --fp8-format hybrid --num-experts 4 --disable-bias-linear --moe-router-padding-for-fp8",
};

TEST(Fp8Constraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      ADD_FAILURE() << flags << ": " << to_line(finding);
    }
  }
}

TEST(Fp8Constraints, RecipesThatAreNotThereAreRefusedByName) {
  EXPECT_TRUE(test::has_finding(test::parse_base("--bf16 --fp8-format e4m3 --fp8-recipe mxfp8"),
                                ids::kNotYet));
}

}  // namespace constraints_fp8_test
}  // namespace mpitron::config
