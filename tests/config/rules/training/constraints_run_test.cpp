#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_run_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--adam-beta2 1", "E054", "0.9 1"},
    {"--deterministic-mode --use-flash-attn", "E065", "flash"},
    {"--adlr-autoresume", "E161", "--save is not given"},
    {"--profile --profile-step-start 5 --profile-step-end 5", "E066", "5 <= 5"},
    {"--metrics-port 65536", "E067", "metrics_port = 65536"},
    {"--metrics-address 0.0.0.0", "E067", "without --metrics-port"},
};

TEST(RunConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(RunConstraints, EveryRuleHasAnExample) {
  test::expect_examples(run_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--global-batch-size 7 --decrease-batch-size-if-needed",
    "--lr-warmup-iters 19",
    "--lr-warmup-fraction 0.5 --min-lr 0.002",
    "--lr-decay-style WSD --lr-wsd-decay-iters 20",
    "--weight-decay-incr-style cosine --start-weight-decay 0.1 --end-weight-decay 0.1",
    "--decoupled-lr 0.1 --decoupled-min-lr 0.01",
    "--eval-interval 0 --eval-iters 0",
    "--deterministic-mode",
};

TEST(RunConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      EXPECT_EQ(finding.id, ids::kNotYet) << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_run_test
}  // namespace mpitron::config
