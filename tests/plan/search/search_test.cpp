#include "plan/search/search.h"

#include <chrono>

#include <gtest/gtest.h>

#include "plan/machine/library.h"
#include "plan/planned_run.h"
#include "plan/search/report.h"

namespace mpitron::plan {
namespace search_test {

SearchSpace space(Index gpus) {
  return {.job = make_job(
              test::planned_run({.layers = 96, .hidden = 12288, .heads = 96, .vocabulary = 131072},
                                4096, 1152, {.gpus = gpus}))};
}

class SearchTest : public ::testing::Test {
 protected:
  const Machine machine_ = *Library().machine("h100-dgx");
  const Stack stack_ = *Library().stack("nemo");
};

TEST_F(SearchTest, WhatFitsIsFastestFirstAndRecomputesNoMoreThanItMust) {
  const SearchSpace all = space(96);
  const SearchResult result = search(machine_, stack_, all, 70e9);
  ASSERT_GT(result.fitting.size(), 10U);
  for (std::size_t i = 0; i < result.fitting.size(); ++i) {
    const Candidate& c = result.fitting[i];
    EXPECT_LE(c.memory.total(), 70e9);
    if (i > 0) {
      EXPECT_GE(c.time.seconds(), result.fitting[i - 1].time.seconds());
    }
    if (c.recompute.recompute_granularity != config::RecomputeGranularity::none) {
      Candidate none = c;
      none.recompute = {};
      EXPECT_GT(fullest_stage(job_of(all, none)).total(), 70e9);
    }
  }
}

TEST_F(SearchTest, MoreMemoryNeverFitsFewerLayouts) {
  std::size_t before = 0;
  for (const double memory : {20e9, 40e9, 80e9, 160e9}) {
    const std::size_t fitting = search(machine_, stack_, space(96), memory).fitting.size();
    EXPECT_GE(fitting, before);
    before = fitting;
  }
}

TEST_F(SearchTest, WhereNothingFitsTheSmallestIsTold) {
  const SearchResult result = search(machine_, stack_, space(8), 70e9);
  EXPECT_TRUE(result.fitting.empty());
  ASSERT_TRUE(result.smallest);
  EXPECT_GT(result.smallest->memory.total(), 70e9);
}

TEST_F(SearchTest, PublishedModelsAreFoundNearTheirUtilization) {
  // Megatron-LM's README: 177B on 96 and 4,608 H100, 47 and 42 %.
  const auto best = [&](Index gpus) {
    const SearchSpace all = space(gpus);
    const Candidate first = search(machine_, stack_, all, 71e9).fitting.at(0);
    return rates(machine_, job_of(all, first), first.time, FlopsFormula::megatron, {}).utilization;
  };
  const double few = best(96), many = best(4608);
  EXPECT_NEAR(few, 0.47, 0.08 * 0.47);
  EXPECT_NEAR(many, 0.42, 0.08 * 0.42);
  EXPECT_NEAR(many / few, 42.0 / 47, 0.05 * 42.0 / 47);
}

}  // namespace search_test
}  // namespace mpitron::plan
