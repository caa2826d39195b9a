#pragma once

#include <limits>

#include <gtest/gtest.h>

#include "train/reruns/rerun_engine.h"

// An engine that judges a few figures.

namespace mpitron::train {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline Results figures(double loss, double norm = 1) {
  return {Result{"loss", loss}, Result{"gradient norm", norm}};
}

inline Results rejected(double loss, bool fatal) {
  Results results = figures(loss);
  results[0].complaint = "the loss is odd";
  results[0].fatal = fatal;
  return results;
}

inline RerunEngine engine(const std::string& machines = "first", bool can_save = true,
                          config::RerunMode mode = config::RerunMode::validate_results) {
  return RerunEngine({.mode = mode, .can_save = can_save, .machines = machines});
}

inline PendingResult left_by_a_first_run(double loss, bool fatal) {
  RerunEngine first = engine();
  EXPECT_TRUE(first.judge(5, rejected(loss, fatal)).again);
  const RerunDecision decision = first.judge(5, figures(loss));
  EXPECT_EQ(decision.exit, ExitCode::resume_to_disambiguate);
  EXPECT_EQ(decision.status, "FIRST_RERUN_REPRODUCIBLE");
  return decision.pending.value_or(PendingResult{});
}

}  // namespace mpitron::train
