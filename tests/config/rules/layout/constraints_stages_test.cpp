#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_stages_test {

constexpr test::RuleCase kBroken[] = {
    {"--world-size 4 --pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 2",
     "E082", "2 % 3"},
    {"--world-size 2 --pipeline-model-parallel-size 2 --account-for-loss-in-pipeline-split", "E083",
     "5 % 2 = 1"},
    {"--pipeline-model-parallel-layout E|t --decoder-last-pipeline-num-layers 1", "E084", "both"},
};

TEST(StageConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(StageConstraints, EveryRuleHasAnExample) {
  test::expect_examples(stage_constraints(), kBroken);
}

}  // namespace constraints_stages_test
}  // namespace mpitron::config
