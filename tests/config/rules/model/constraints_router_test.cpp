#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_router_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--num-experts 4 --moe-router-topk 5", "E132", "--moe-router-topk 4"},
    {"--num-experts 4 --moe-router-topk 0", "E132", "0 of 4"},
    {"--num-experts 4 --moe-router-topk 1", "E133", "--moe-router-pre-softmax"},
    {"--num-experts 4 --moe-router-num-groups 2", "E134", "missing"},
    {"--num-experts 4 --moe-router-num-groups 2 --moe-router-group-topk 3", "E134", "3 of 2"},
    {"--num-experts 4 --moe-router-num-groups 3 --moe-router-group-topk 1", "E134", "4 % 3 = 1"},
    {"--num-experts 8 --moe-router-topk 3 --moe-router-num-groups 4 --moe-router-group-topk 2",
     "E134", "--moe-router-topk 2 | --moe-router-topk 4"},
    {"--num-experts 4 --moe-router-enable-expert-bias", "E135", "sigmoid"},
    {"--num-experts 4 --moe-router-enable-expert-bias --moe-router-score-function sigmoid "
     "--moe-router-bias-update-rate 0",
     "E135", "rate 0"},
    {"--num-experts 4 --moe-aux-loss-coeff -1", "E136", "coefficient -1"},
    {"--num-experts 4 --moe-router-load-balancing-type sinkhorn --moe-aux-loss-coeff 0.1", "E136",
     "with sinkhorn"},
    {"--num-experts 4 --moe-router-load-balancing-type aux_loss none", "E136", "aux_loss none"},
    {"--num-experts 4 --moe-router-load-balancing-type aux_loss seq_aux_loss aux_loss "
     "--moe-aux-loss-coeff 0.1 0.2 0.3",
     "E136", "--moe-router-load-balancing-type aux_loss seq_aux_loss"},
    {"--num-experts 4 --moe-router-load-balancing-type aux_loss seq_aux_loss "
     "--moe-aux-loss-coeff 0.1",
     "E136", "2 kinds, 1 coefficients"},
    {"--num-experts 4 --moe-input-jitter-eps 1", "E139", "jitter 1"},
    {"--num-experts 4 --moe-z-loss-coeff -1", "E139", "z loss -1"},
};

TEST(RouterConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(RouterConstraints, ABiasGoesWithScoresThatDoNotDependOnEachOther) {
  for (const char* score : {"sigmoid", "sqrtsoftplus"}) {
    const std::string flags = "--num-experts 4 --moe-router-enable-expert-bias ";
    const ParsedRun parsed = test::parse_base(flags + "--moe-router-score-function " + score);
    EXPECT_FALSE(test::has_finding(parsed, "E135")) << test::all_findings(parsed);
  }
}

TEST(RouterConstraints, EveryRuleHasAnExample) {
  test::expect_examples(router_constraints(), kBroken);
}

}  // namespace constraints_router_test
}  // namespace mpitron::config
