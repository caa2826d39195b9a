#include <gtest/gtest.h>

#include "pipeline/schedule.h"
#include "pipeline/schedule_text.h"
#include "support/golden_tables.h"
#include "utils/error.h"

namespace mpitron::pipeline {
namespace one_forward_one_backward_test {

TEST(OneForwardOneBackward, WarmupsEqualReferenceTable) {
  const nlohmann::json table = test::golden_table("schedules").at("non_interleaved");
  ASSERT_GE(table.size(), 5U);
  for (const auto& row : table) {
    const ScheduleOptions options{.stages = row.at("pipeline_size"),
                                  .microbatches = row.at("num_microbatches")};
    for (Index stage = 0; stage < options.stages; ++stage) {
      const Index warmup = row.at("warmup_by_rank").at(static_cast<std::size_t>(stage));
      EXPECT_EQ(one_forward_one_backward_warmup(options, stage), warmup) << row;
      // The order follows it: the first backward comes after one forward more than the warm-up.
      const ActionList order = one_forward_one_backward_order(options, stage);
      const Index forwards = std::min(warmup + 1, options.microbatches);
      EXPECT_EQ(order[static_cast<std::size_t>(forwards)].kind, ActionKind::backward) << row;
    }
  }
}

TEST(OneForwardOneBackward, WarmsUpAlternatesAndFlushes) {
  const ScheduleOptions options{.stages = 3, .microbatches = 4};
  EXPECT_EQ(test::text_of(one_forward_one_backward_order(options, 0)), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(test::text_of(one_forward_one_backward_order(options, 1)), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(test::text_of(one_forward_one_backward_order(options, 2)), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(OneForwardOneBackward, FewMicrobatchesAreAllWarmup) {
  const ScheduleOptions options{.stages = 4, .microbatches = 2};
  EXPECT_EQ(test::text_of(one_forward_one_backward_order(options, 0)), "F0 F1 B0 B1");
}

TEST(OneForwardOneBackward, RefusesChunks) {
  EXPECT_THROW(one_forward_one_backward_order({.stages = 2, .chunks = 2}, 0), Error);
}

}  // namespace one_forward_one_backward_test
}  // namespace mpitron::pipeline
