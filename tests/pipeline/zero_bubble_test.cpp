#include <gtest/gtest.h>

#include "pipeline/schedule.h"
#include "pipeline/schedule_text.h"
#include "utils/error.h"

namespace mpitron::pipeline {
namespace zero_bubble_test {

TEST(ZeroBubble, StageRunsWeightGradientsAsManyMicrobatchesLateAsItsNumber) {
  const ScheduleOptions options{.stages = 3, .microbatches = 4};
  EXPECT_EQ(test::text_of(zero_bubble_order(options, 0)), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(test::text_of(zero_bubble_order(options, 1)), "F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3");
  EXPECT_EQ(test::text_of(zero_bubble_order(options, 2)), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

TEST(ZeroBubble, FewMicrobatchesLeaveAllWeightGradientsToTheEnd) {
  const ScheduleOptions options{.stages = 4, .microbatches = 2};
  EXPECT_EQ(test::text_of(zero_bubble_order(options, 3)), "F0 B0 F1 B1 W0 W1");
}

TEST(ZeroBubble, SplitsTheBackward) {
  for (const Action& action : zero_bubble_order({.stages = 2, .microbatches = 3}, 0)) {
    EXPECT_NE(action.kind, ActionKind::backward);
  }
  EXPECT_THROW(zero_bubble_order({.stages = 2, .chunks = 2}, 0), Error);
}

}  // namespace zero_bubble_test
}  // namespace mpitron::pipeline
