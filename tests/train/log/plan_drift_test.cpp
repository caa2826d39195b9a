#include "train/log/plan_drift.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::train {
namespace plan_drift_test {

const PlannedStep kPlan{.seconds = 2, .error = 0.1, .waiting = 0.5};

std::optional<std::string> after(PlanDrift& drift, int steps, const StepTime& time) {
  std::optional<std::string> told;
  for (int i = 0; i < steps; ++i) {
    if (const auto now = drift(time)) {
      EXPECT_FALSE(told);
      told = now;
    }
  }
  return told;
}

TEST(PlanDrift, StepsWithinTheBandAreNotTold) {
  PlanDrift drift(kPlan);
  EXPECT_FALSE(after(drift, 300, {.seconds = 2.19, .waited = 0.5}));
  EXPECT_FALSE(after(drift, PlanDrift::kSteps - 1, {.seconds = 3, .waited = 0.5}));
  EXPECT_FALSE(after(drift, 1, {.seconds = 2, .waited = 0.5}));  // the row is broken
  EXPECT_FALSE(after(drift, PlanDrift::kSteps - 1, {.seconds = 3, .waited = 0.5}));
}

TEST(PlanDrift, WhatHasGrownMostIsNamedOnce) {
  PlanDrift slow_network(kPlan);
  EXPECT_EQ(
      after(slow_network, 250, {.seconds = 3, .waited = 1.4}),
      "100 steps took 3.000 s each where the plan has 2.000 (+50 %, its band is 10 %): waiting "
      "for other ranks is 1.400 s, planned 0.500");
  PlanDrift slow_kernels(kPlan);
  EXPECT_EQ(after(slow_kernels, 100, {.seconds = 3, .waited = 0.6}),
            "100 steps took 3.000 s each where the plan has 2.000 (+50 %, its band is 10 %): the "
            "ranks' own work is 2.400 s, planned 1.500");
}

TEST(PlanDrift, FilesAreThoseOfThePlan) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "plan.json";
  std::ofstream(path) << R"({"layouts": [{"step_s": 4, "error_bar": 0.2, "breakdown":
      {"products": 3, "bubble": 0.5, "exposed data traffic": 0.25, "pipeline messages": 0.25}}]})";
  const PlannedStep plan = read_planned_step(path);
  EXPECT_EQ(plan.seconds, 4);
  EXPECT_EQ(plan.error, 0.2);
  EXPECT_EQ(plan.waiting, 1);
  std::ofstream(path) << "{}";
  EXPECT_THROW(read_planned_step(path), Error);
}

}  // namespace plan_drift_test
}  // namespace mpitron::train
