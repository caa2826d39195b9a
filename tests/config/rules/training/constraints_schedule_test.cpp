#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_schedule_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--min-lr 1", "E048", "min_lr 1"},
    {"--lr-warmup-fraction 0.1 --lr-warmup-iters 2", "E049", "--lr-warmup-iters given"},
    {"--lr-warmup-iters 20", "E050", "160 >= 160"},
    {"--lr-decay-style WSD", "E051", "--lr-wsd-decay-iters N"},
    {"--start-weight-decay 0.1", "E052", "constant style, start 0.1"},
    {"--weight-decay-incr-style linear --start-weight-decay 0.1", "E052", "end missing"},
    {"--decoupled-min-lr 0.1", "E053", "--decoupled-lr is missing"},
};

TEST(ScheduleConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(ScheduleConstraints, EveryRuleHasAnExample) {
  test::expect_examples(schedule_constraints(), kBroken);
}

}  // namespace constraints_schedule_test
}  // namespace mpitron::config
