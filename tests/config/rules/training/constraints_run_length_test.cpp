#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_run_length_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--train-samples 160", "E040", "both are given"},
    {"--lr-warmup-samples 32", "E041", "--lr-warmup-samples given"},
    {"--rampup-batch-size 2 2 24", "E041", "--rampup-batch-size given"},
    {"--rampup-batch-size 2 2 24 --lr-decay-iters 10", "E041",
     "Nearest: --train-samples 124 --lr-decay-samples 44 in place of"},
    {"--train-samples 160 --lr-decay-iters 3", "E042", "--lr-decay-iters given"},
    {"--log-interval 0", "E043", "log_interval = 0"},
    {"--eval-iters -1", "E043", "eval_iters = -1"},
    {"--error-injection-rate -1", "E043", "error_injection_rate = -1"},
    {"--adlr-autoresume --adlr-autoresume-interval 0", "E043", "adlr_autoresume_interval = 0"},
};

TEST(RunLengthConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(RunLengthConstraints, EveryRuleHasAnExample) {
  test::expect_examples(run_length_constraints(), kBroken);
}

TEST(RunLengthConstraints, CountsOfEvaluationsMayBeNothing) {
  EXPECT_EQ(test::all_findings(test::parse_base("--eval-interval 0 --eval-iters 0")),
            "no findings");
}

}  // namespace constraints_run_length_test
}  // namespace mpitron::config
