#include "plan/published/prediction.h"

#include <gtest/gtest.h>

#include "plan/planned_run.h"

namespace mpitron::plan {
namespace prediction_test {

PublishedRow row_of(const std::string& hardware, Index layers = 24) {
  PublishedRow row;
  row.source = "somebody";
  row.hardware = hardware;
  row.run = test::planned_run({.layers = layers, .hidden = 2048, .heads = 16}, 2048, 16,
                              {.gpus = 8, .tensor = 8});
  return row;
}

TEST(Prediction, UnknownHardwareIsNotGuessed) {
  const Library library;
  EXPECT_FALSE(parts_of(library, row_of("abacus-1")).machine);
  const RowParts parts = parts_of(library, row_of("dgx-a100-80-ib8x200"));
  EXPECT_TRUE(parts.machine);
  EXPECT_FALSE(parts.stack_is_known);
  EXPECT_TRUE(parts.stack);
}

TEST(Prediction, LargerModelsTakeLonger) {
  const Library library;
  const PublishedRow row = row_of("dgx-a100-80-ib8x200");
  const RowParts parts = parts_of(library, row);
  const double small = predict(*parts.machine, *parts.stack, row).time.seconds();
  EXPECT_GT(predict(*parts.machine, *parts.stack, row_of(row.hardware, 48)).time.seconds(),
            1.5 * small);
}

TEST(Prediction, WhatIsNotSaidIsTriedAndRecomputedAsFarAsItMust) {
  PublishedRow row = row_of("dgx-a100-80-ib8x200");
  EXPECT_EQ(candidate_jobs(row, 80e9).size(), 5U);  // sizes of a microbatch
  row.micro_batch = 1;
  ASSERT_EQ(candidate_jobs(row, 80e9).size(), 1U);
  const auto recompute = [&](double memory) {
    return candidate_jobs(row, memory).front().run.model.recompute_num_layers;
  };
  EXPECT_EQ(recompute(80e9), 0);
  EXPECT_GT(recompute(3e9), 0);
}

}  // namespace prediction_test
}  // namespace mpitron::plan
