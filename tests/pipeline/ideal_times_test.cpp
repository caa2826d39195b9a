#include "pipeline/ideal_times.h"

#include <gtest/gtest.h>

#include "pipeline/schedule.h"

namespace mpitron::pipeline {
namespace ideal_times_test {

const ScheduleOptions kTwoStages{.stages = 2, .microbatches = 2};

std::vector<ActionList> orders(const ScheduleOptions& options) {
  std::vector<ActionList> all;
  for (Index stage = 0; stage < options.stages; ++stage) {
    all.push_back(one_forward_one_backward_order(options, stage));
  }
  return all;
}

// stage 0: F0 F1 . B0=== . B1===   stage 1: . F0 B0=== F1 B1===
TEST(IdealTimes, ComputationsRunAsEarlyAsTheirDataAllows) {
  const IdealTimes times(orders(kTwoStages), kTwoStages);
  std::vector<Index> starts;
  for (Index stage = 0; stage < 2; ++stage) {
    for (const IdealSpan& span : times.spans(stage)) {
      starts.push_back(span.start);
    }
  }
  EXPECT_EQ(starts, (std::vector<Index>{0, 1, 4, 7, 1, 2, 4, 5}));
}

TEST(IdealTimes, ArrivalsAreTheEndsOfTheOtherStages) {
  const IdealTimes times(orders(kTwoStages), kTwoStages);
  EXPECT_EQ(times.arrival(0, {.kind = ActionKind::forward}), std::nullopt);
  EXPECT_EQ(times.arrival(1, {.kind = ActionKind::forward, .microbatch = 1}), 2);
  EXPECT_EQ(times.arrival(0, {.kind = ActionKind::backward, .microbatch = 1}), 7);
  EXPECT_EQ(times.arrival(1, {.kind = ActionKind::backward}), std::nullopt);
  EXPECT_EQ(times.arrival(0, {.kind = ActionKind::backward_weight}), std::nullopt);
}

TEST(IdealTimes, AJoinedPairStartsAndEndsTogether) {
  const ScheduleOptions one{.microbatches = 2};
  const ActionList order{{.microbatch = 0},
                         {.microbatch = 1, .joined = true},
                         {.kind = ActionKind::backward, .microbatch = 0},
                         {.kind = ActionKind::backward, .microbatch = 1}};
  const IdealTimes times({order}, one);
  std::vector<Index> bounds;
  for (const IdealSpan& span : times.spans(0)) {
    bounds.insert(bounds.end(), {span.start, span.end});
  }
  EXPECT_EQ(bounds, (std::vector<Index>{0, 1, 1, 4, 1, 4, 4, 6}));
}

TEST(IdealTimes, OrdersThatWaitInACircleAreFound) {
  std::vector<ActionList> all = orders(kTwoStages);
  std::swap(all[0].front(), all[0].back());
  EXPECT_THROW(IdealTimes(all, kTwoStages), InternalError);
}

TEST(DataFlow, ForwardsPassActivationsOnAndBackwardsGradientsBack) {
  const VirtualStages ring{.stages = 2, .chunks = 2};
  const Action forward{.kind = ActionKind::forward, .chunk = 1};
  const Action backward{.kind = ActionKind::backward_input, .chunk = 1};
  EXPECT_EQ(data_source(ring, 0, forward), (ChunkPosition{.stage = 1, .chunk = 0}));
  EXPECT_EQ(data_target(ring, 0, forward), (ChunkPosition{.stage = 1, .chunk = 1}));
  EXPECT_EQ(data_source(ring, 0, backward), (ChunkPosition{.stage = 1, .chunk = 1}));
  EXPECT_EQ(data_target(ring, 0, backward), (ChunkPosition{.stage = 1, .chunk = 0}));
  EXPECT_EQ(data_target(ring, 0, {.kind = ActionKind::backward_weight}), std::nullopt);
}

}  // namespace ideal_times_test
}  // namespace mpitron::pipeline
