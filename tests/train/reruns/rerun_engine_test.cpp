#include "train/reruns/rerun_engine.h"

#include <limits>

#include <gtest/gtest.h>

#include "train/reruns/small_engine.h"

namespace mpitron::train {
namespace rerun_engine_test {

using config::InjectedError;
using config::RerunMode;

TEST(RerunEngine, WhatNobodyRejectsIsNotRunAgain) {
  RerunEngine tested = engine();
  const RerunDecision decision = tested.judge(5, figures(2));
  EXPECT_FALSE(decision.again);
  EXPECT_FALSE(decision.exit);
  EXPECT_FALSE(tested.rerunning());
}

TEST(RerunEngine, DisabledItEndsOrWarnsAtOnce) {
  RerunEngine tested = engine("first", true, RerunMode::disabled);
  tested.expect(left_by_a_first_run(2, true));
  const RerunDecision fatal = tested.judge(5, rejected(2, true));
  EXPECT_EQ(fatal.exit, ExitCode::result_rejected);
  EXPECT_EQ(fatal.status, "RERUN_DISABLED");
  const RerunDecision warned = tested.judge(6, rejected(2, false));
  EXPECT_FALSE(warned.exit);
  EXPECT_NE(warned.message.find("iteration 6: the loss is odd"), std::string::npos);
}

TEST(RerunEngine, StatisticsCompareEveryIteration) {
  RerunEngine tested = engine("first", true, RerunMode::report_stats);
  for (Index iteration = 1; iteration <= 3; ++iteration) {
    EXPECT_TRUE(tested.judge(iteration, rejected(2, true)).again);
    EXPECT_FALSE(tested.judge(iteration, figures(iteration == 2 ? 3 : 2)).exit);
  }
  const std::string text = tested.take_statistics();
  EXPECT_NE(text.find("loss: 1 of 3 iterations gave other bits when computed again, largest "
                      "relative difference 0.5"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("gradient norm: 0 of 3"), std::string::npos) << text;
  EXPECT_EQ(tested.take_statistics(), "");
}

/// Every kind of injected error ends as the real one would, with the same figures throughout.
TEST(RerunEngine, InjectedErrors) {
  const auto run = [](const std::string& machines, InjectedError kind,
                      const std::optional<PendingResult>& pending) {
    RerunEngine tested({.error_injection_rate = 1,
                        .error_injection_type = kind,
                        .can_save = true,
                        .machines = machines});
    if (pending) {
      tested.expect(*pending);
    }
    const RerunDecision decision = tested.judge(5, figures(2));
    return decision.again ? tested.judge(5, figures(2)) : decision;
  };
  EXPECT_EQ(run("first", InjectedError::transient_error, {}).exit, ExitCode::result_rejected);
  for (const auto kind : {InjectedError::correct_result, InjectedError::persistent_error}) {
    const RerunDecision first = run("first", kind, {});
    EXPECT_EQ(first.exit, ExitCode::resume_to_disambiguate);
    const RerunDecision second = run("second", kind, first.pending);
    EXPECT_EQ(second.status, kind == InjectedError::correct_result
                                 ? "SECOND_RERUN_REPRODUCIBLE"
                                 : "SECOND_RERUN_NOT_REPRODUCIBLE");
  }
}

TEST(RerunEngine, InjectsOneInSoManyIterations) {
  Index injected = 0;
  for (Index iteration = 1; iteration <= 1000; ++iteration) {
    RerunEngine tested({.error_injection_rate = 10, .seed = 3});
    injected += tested.judge(iteration, figures(2)).again ? 1 : 0;
  }
  EXPECT_GT(injected, 60);
  EXPECT_LT(injected, 150);
}

TEST(RelativeDifference, OfFiniteAndOtherFigures) {
  EXPECT_EQ(relative_difference(2, 2), 0);
  EXPECT_EQ(relative_difference(2, 3), 0.5);
  EXPECT_EQ(relative_difference(kNan, kNan), 0);
  EXPECT_EQ(relative_difference(kNan, 1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_difference(0, 1), std::numeric_limits<double>::infinity());
}

}  // namespace rerun_engine_test

}  // namespace mpitron::train
