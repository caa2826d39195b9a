#include <gtest/gtest.h>

#include "plan/planned_run.h"
#include "plan/published/prediction.h"
#include "plan/published/published_row_sample.h"

namespace mpitron::plan {
namespace candidate_jobs_test {

TEST(CandidateJobs, WhatIsNotSaidIsTriedAndRecomputedAsFarAsItMust) {
  PublishedRow row = test::published_row("dgx-a100-80-ib8x200");
  EXPECT_EQ(candidate_jobs(row, 80e9).size(), 5U);  // sizes of a microbatch
  row.micro_batch = 1;
  ASSERT_EQ(candidate_jobs(row, 80e9).size(), 1U);
  const auto recompute = [&](double memory) {
    return candidate_jobs(row, memory).front().run.model.recompute_num_layers;
  };
  EXPECT_EQ(recompute(80e9), 0);
  EXPECT_GT(recompute(3e9), 0);
}

}  // namespace candidate_jobs_test
}  // namespace mpitron::plan
