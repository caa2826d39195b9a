#include <gtest/gtest.h>

#include "pipeline/schedule.h"
#include "pipeline/schedule_text.h"
#include "utils/error.h"

namespace mpitron::pipeline {

TEST(NoPipelining, BackwardFollowsEachForward) {
  const ActionList order = no_pipelining_order({.microbatches = 3});
  ASSERT_EQ(order.size(), 6U);
  for (Index m = 0; m < 3; ++m) {
    EXPECT_EQ(order[static_cast<std::size_t>(2 * m)], (Action{.microbatch = m}));
    EXPECT_EQ(order[static_cast<std::size_t>(2 * m + 1)],
              (Action{.kind = ActionKind::backward, .microbatch = m}));
  }
}

TEST(NoPipelining, JoinedPassesAreAMicrobatchApart) {
  const ActionList order = no_pipelining_order({.microbatches = 3, .join_passes = true});
  EXPECT_EQ(test::text_of(order), "F0 F1 B0 F2 B1 B2");
  std::vector<bool> joined;
  for (const Action& action : order) {
    joined.push_back(action.joined);
  }
  EXPECT_EQ(joined, (std::vector<bool>{false, true, false, true, false, false}));
}

TEST(NoPipelining, RefusesStagesAndChunks) {
  EXPECT_THROW(no_pipelining_order({.stages = 2}), Error);
  EXPECT_THROW(no_pipelining_order({.chunks = 2}), Error);
}

}  // namespace mpitron::pipeline
