#include <gtest/gtest.h>

#include "pipeline/schedule.h"
#include "pipeline/schedule_text.h"
#include "support/golden_tables.h"
#include "utils/error.h"

namespace mpitron::pipeline {
namespace interleaved_test {

using nlohmann::json;

ScheduleOptions options_of(const json& row) {
  return {.kind = ScheduleKind::interleaved,
          .stages = row.at("pipeline_size"),
          .chunks = row.at("virtual_size"),
          .microbatches = row.at("num_microbatches"),
          .microbatch_group_size_per_virtual_stage = row.at("group_size")};
}

/// The computations as the table writes them: chunk + 1, negative for a backward.
json chunks_in_order(const ActionList& order) {
  json chunks = json::array();
  for (const Action& action : order) {
    chunks.push_back(action.kind == ActionKind::forward ? action.chunk + 1 : -action.chunk - 1);
  }
  return chunks;
}

std::string error_of(const ScheduleOptions& options) {
  try {
    interleaved_order(options, 0);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Interleaved, TablesAndWarmupsEqualReferenceTable) {
  const json table = test::golden_table("schedules").at("interleaved");
  ASSERT_GE(table.size(), 10U);
  for (const json& row : table) {
    const ScheduleOptions options = options_of(row);
    json slots = json::array();
    for (const ScheduleSlot& slot : interleaved_table(options)) {
      slots.push_back({slot.microbatch, slot.chunk});
    }
    EXPECT_EQ(slots, row.at("table_microbatch_chunk")) << row;
    for (Index stage = 0; stage < options.stages; ++stage) {
      const json& rank = row.at("ranks").at(static_cast<std::size_t>(stage));
      const Index warmup = interleaved_warmup(options, stage);
      EXPECT_EQ(warmup, rank.at("warmup")) << row;
      EXPECT_EQ(static_cast<Index>(slots.size()), rank.at("total"));
      EXPECT_EQ(rank.at("total").get<Index>() - warmup, rank.at("remaining"));
      EXPECT_EQ(interleaved_warmup(options, stage, 1), rank.at("warmup_with_expert_overlap"));
    }
  }
}

TEST(Interleaved, OrdersOfTheFirstStageEqualReferenceTable) {
  int refused = 0;
  const json rows = test::golden_table("schedules").at("interleaved");
  for (const json& row : rows) {
    const ScheduleOptions options = options_of(row);
    const Index rest = options.microbatches % options.group_size();
    if (rest != 0 && rest < options.stages) {  // the reference refuses it elsewhere
      EXPECT_NE(error_of(options), "") << row;
      ++refused;
      continue;
    }
    EXPECT_EQ(chunks_in_order(interleaved_order(options, 0)), row.at("order")) << row;
  }
  EXPECT_LE(refused, 2);
}

TEST(Interleaved, OtherStagesWarmUpLess) {
  const ScheduleOptions options{.stages = 2, .chunks = 2, .microbatches = 4};
  EXPECT_EQ(test::text_of(interleaved_order(options, 1), true),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
}

TEST(Interleaved, JoinedPassesWarmUpOnceMore) {
  const ScheduleOptions options{.stages = 2, .chunks = 2, .microbatches = 4, .join_passes = true};
  const ActionList order = interleaved_order(options, 1);
  EXPECT_EQ(test::text_of(order, true),
            "F0.0 F1.0 F0.1 F1.1 B0.1 F2.0 B1.1 F3.0 B0.0 F2.1 B1.0 F3.1 B2.1 B3.1 B2.0 B3.0");
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i].joined, i >= 3 && i < 12 && order[i].kind == ActionKind::forward) << i;
  }
}

TEST(Interleaved, ErrorsNameOptionAndFix) {
  ScheduleOptions options{.stages = 4, .chunks = 2, .microbatches = 10};
  EXPECT_NE(error_of(options).find("8 or 12 microbatches"), std::string::npos) << error_of(options);
  options.microbatch_group_size_per_virtual_stage = 3;
  EXPECT_NE(error_of(options).find("give at least 4"), std::string::npos);
  options.microbatch_group_size_per_virtual_stage = 5;
  EXPECT_EQ(error_of(options), "");
  options.chunks = 1;
  EXPECT_NE(error_of(options).find("2 chunks per stage"), std::string::npos);
  EXPECT_NE(error_of({.stages = 1, .chunks = 2}).find("2 stages"), std::string::npos);
}

}  // namespace interleaved_test
}  // namespace mpitron::pipeline
