#include "pipeline/draw.h"

#include <gtest/gtest.h>

namespace mpitron::pipeline {
namespace draw_test {

TEST(Draw, ShowsStagesComputationsAndIdleTime) {
  EXPECT_EQ(draw(make_schedule({.stages = 2, .microbatches = 2})),
            "1f1b: 2 stages, 1 chunks, 2 microbatches in groups of 2\n"
            "0 | F0 F1 .  .  B0=== .  B1===\n"
            "1 | .  F0 B0=== F1 B1=== .  .\n"
            "makespan 9, bubble 50.00 % of the computing time, receive buffers 2\n"
            "live tapes by stage: 2 1\n");
}

TEST(Draw, NamesChunksAndDeferredWeightGradients) {
  const std::string chunks = draw(make_schedule(
      {.kind = ScheduleKind::interleaved, .stages = 2, .chunks = 2, .microbatches = 2}));
  EXPECT_NE(chunks.find("0 | F0.0 F1.0 F0.1 F1.1 .    .    B0.1===== .    B1.1"), std::string::npos)
      << chunks;
  const std::string split =
      draw(make_schedule({.kind = ScheduleKind::zero_bubble, .stages = 2, .microbatches = 2}));
  EXPECT_NE(split.find("1 | .  F0 B0 F1 B1 W0 W1\n"), std::string::npos) << split;
}

TEST(Draw, CutsLongRowsAndScalesTime) {
  const Schedule schedule = make_schedule({.stages = 2, .microbatches = 2});
  const Costs costs{.forward = 0.5, .backward_input = 0.25, .backward_weight = 0.25};
  EXPECT_NE(draw(schedule, costs, 12).find("0 | F0 F1 .\n1 | .  F0 B0\n"), std::string::npos)
      << draw(schedule, costs, 12);
}

TEST(Draw, RefusesABrokenSchedule) {
  Schedule schedule = make_schedule({.stages = 2, .microbatches = 2});
  schedule.stages[0].pop_back();
  EXPECT_THROW(draw(schedule), InternalError);
}

}  // namespace draw_test
}  // namespace mpitron::pipeline
