#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_preferences_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--dpo-beta 0.3", "E320", "without --dpo"},
    {"--sft --dpo --sft-train-on-prompt", "E320", "--sft-train-on-prompt"},
    {"--sft --dpo --dpo-beta 0", "E321", "--dpo-beta 0"},
    {"--teacher-top-k 3", "E322", "without a teacher"},
    {"--teacher-output x --context-parallel-size 2", "E322", "--context-parallel-size"},
    {"--teacher-file x --distillation-weight 2", "E323", "out of range"},
};

TEST(PreferenceConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(PreferenceConstraints, EveryRuleHasAnExample) {
  test::expect_examples(preference_constraints(), kBroken);
}

}  // namespace constraints_preferences_test
}  // namespace mpitron::config
