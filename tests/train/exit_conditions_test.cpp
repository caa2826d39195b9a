#include "train/exit_conditions.h"

#include <csignal>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::train {
namespace {

const ExitOptions kAll{.save = true,
                       .save_interval = 10,
                       .non_persistent_save_interval = 4,
                       .exit_interval = 15,
                       .exit_duration_in_mins = 60};

void expect(const ExitOptions& options, const ExitMoment& moment, SaveKind save,
            ExitReason reason) {
  const ExitDecision decision = ExitConditions(options).decide(moment);
  EXPECT_EQ(decision.save, save) << "iteration " << moment.iteration;
  EXPECT_EQ(decision.reason, reason) << "iteration " << moment.iteration;
  EXPECT_EQ(decision.message.empty(), reason == ExitReason::none) << decision.message;
}

}  // namespace

TEST(ExitConditions, OrdinaryIterations) {
  expect(kAll, {.iteration = 7}, SaveKind::none, ExitReason::none);
  expect(kAll, {.iteration = 10}, SaveKind::persistent, ExitReason::none);
  expect(kAll, {.iteration = 4}, SaveKind::non_persistent, ExitReason::none);
  expect(kAll, {.iteration = 20}, SaveKind::persistent, ExitReason::none);
  ExitOptions unsaved = kAll;
  unsaved.save = false;
  expect(unsaved, {.iteration = 10}, SaveKind::none, ExitReason::none);
  expect({}, {.iteration = 10, .minutes_since_start = 1e6}, SaveKind::none, ExitReason::none);
}

TEST(ExitConditions, EveryExitSavesOnce) {
  expect(kAll, {.iteration = 7, .signal = SIGTERM}, SaveKind::persistent, ExitReason::signal);
  expect(kAll, {.iteration = 7, .minutes_since_start = 60.1}, SaveKind::persistent,
         ExitReason::duration);
  expect(kAll, {.iteration = 15}, SaveKind::persistent, ExitReason::interval);
  // The reference does not save again what an interval just saved, not even a non-persistent one.
  expect(kAll, {.iteration = 8, .minutes_since_start = 61}, SaveKind::non_persistent,
         ExitReason::duration);
  ExitOptions unsaved = kAll;
  unsaved.save = false;
  expect(unsaved, {.iteration = 15}, SaveKind::none, ExitReason::interval);
}

TEST(ExitConditions, OrderOfReasons) {
  const ExitMoment everything{.iteration = 60, .minutes_since_start = 100, .signal = SIGUSR1};
  expect(kAll, everything, SaveKind::persistent, ExitReason::signal);
  expect(kAll, {.iteration = 60, .minutes_since_start = 100}, SaveKind::persistent,
         ExitReason::duration);
  expect(kAll, {.iteration = 60, .minutes_since_start = 60}, SaveKind::persistent,
         ExitReason::interval);
}

TEST(ExitConditions, EndOfTheJob) {
  const ExitMoment plenty{.iteration = 1, .seconds_to_job_end = 151, .seconds_to_stop = 100};
  expect(kAll, plenty, SaveKind::none, ExitReason::none);
  const ExitMoment tight{.iteration = 1, .seconds_to_job_end = 149, .seconds_to_stop = 100};
  expect(kAll, tight, SaveKind::persistent, ExitReason::job_end);
}

TEST(ExitConditions, OneRankIsEnough) {
  std::vector<Index> asked;
  const ExitConditions other_rank_got_it(kAll, [&](Index value) {
    asked.push_back(value);
    return std::max<Index>(value, SIGUSR2);
  });
  const ExitDecision decision = other_rank_got_it.decide({.iteration = 1});
  EXPECT_EQ(decision.reason, ExitReason::signal);
  EXPECT_EQ(decision.message, "exiting program after receiving SIGUSR2.");
  EXPECT_EQ(asked, std::vector<Index>{0});
}

TEST(ExitConditions, RanksAskTheSameQuestions) {
  std::vector<int> counts;
  for (const double minutes : {0.0, 59.0}) {
    int count = 0;
    const ExitConditions conditions(kAll, [&](Index) {
      ++count;
      return Index{0};
    });
    conditions.decide({.iteration = 7, .minutes_since_start = minutes, .seconds_to_job_end = 1});
    counts.push_back(count);
  }
  EXPECT_EQ(counts[0], counts[1]);
}

TEST(ExitConditions, Messages) {
  const ExitConditions conditions(kAll);
  EXPECT_EQ(conditions.decide({.iteration = 15}).message, "exiting program at iteration 15");
  EXPECT_EQ(conditions.decide({.iteration = 1, .minutes_since_start = 60.5}).message,
            "exiting program after 60.5 minutes");
}

TEST(ExitConditions, Codes) {
  EXPECT_EQ(exit_code(ExitReason::none, false), ExitCode::success);
  EXPECT_EQ(exit_code(ExitReason::interval, false), ExitCode::success);
  EXPECT_EQ(exit_code(ExitReason::duration, true), ExitCode::interrupted);
  EXPECT_EQ(static_cast<int>(exit_code(ExitReason::signal, true)), 85);
  EXPECT_EQ(static_cast<int>(exit_code(ExitReason::signal, false)), 86);
}

}  // namespace mpitron::train
