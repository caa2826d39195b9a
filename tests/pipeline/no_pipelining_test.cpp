#include "pipeline/no_pipelining.h"

#include <gtest/gtest.h>

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

TEST(NoPipelining, RefusesStagesAndChunks) {
  EXPECT_THROW(no_pipelining_order({.stages = 2}), Error);
  EXPECT_THROW(no_pipelining_order({.chunks = 2}), Error);
}

}  // namespace mpitron::pipeline
