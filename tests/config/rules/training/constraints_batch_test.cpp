#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_batch_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--global-batch-size 7", "E044",
     "7 % (2 * 1) = 1. Nearest: --global-batch-size 6 | --global-batch-size 8"},
    {"--rampup-batch-size 2 2", "E045", "2 2"},
    {"--rampup-batch-size 2 x 24", "E045", "2 x 24"},
    {"--rampup-batch-size 2 4 24", "E046", "(8 - 2) % 4 = 2"},
    {"--rampup-batch-size 3 5 24", "E047", "3 % 2 = 1"},
};

TEST(BatchConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(BatchConstraints, EveryRuleHasAnExample) {
  test::expect_examples(batch_constraints(), kBroken);
}

}  // namespace constraints_batch_test
}  // namespace mpitron::config
