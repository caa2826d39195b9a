#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_precision_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--fp16 --bf16", "E030", "both"},
    {"--fp16-lm-cross-entropy --bf16", "E031", "--fp16"},
    {"--fp32-residual-connection", "E032", "fp32 already"},
    {"--fp16 --min-loss-scale 0", "E033", "min 0"},
    {"--recompute-granularity full", "E034", "method missing"},
    {"--recompute-granularity full --recompute-method block --recompute-num-layers 5", "E034",
     "5 of 4"},
    {"--recompute-granularity selective --recompute-method block", "E035", "--recompute-method"},
};

TEST(PrecisionConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(PrecisionConstraints, EveryRuleHasAnExample) {
  test::expect_examples(precision_constraints(), kBroken);
}

}  // namespace constraints_precision_test
}  // namespace mpitron::config
