#include "train/run/exit_conditions.h"

#include <algorithm>
#include <csignal>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace mpitron::train {
namespace exit_conditions_test {

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

TEST(ExitConditions, FilesAsk) {
  expect(kAll, {.iteration = 7, .trigger = Trigger::save}, SaveKind::persistent, ExitReason::none);
  expect(kAll, {.iteration = 4, .trigger = Trigger::save}, SaveKind::persistent, ExitReason::none);
  expect(kAll, {.iteration = 7, .trigger = Trigger::stop}, SaveKind::persistent, ExitReason::stop);
  expect(kAll, {.iteration = 7, .trigger = Trigger::resume_later}, SaveKind::persistent,
         ExitReason::resume_later);
  expect(kAll, {.iteration = 15, .trigger = Trigger::save}, SaveKind::persistent,
         ExitReason::interval);
  expect({}, {.iteration = 7, .trigger = Trigger::save}, SaveKind::none, ExitReason::none);
  // Who asks for more gets it.
  expect(kAll, {.iteration = 7, .signal = SIGTERM, .trigger = Trigger::stop}, SaveKind::persistent,
         ExitReason::signal);
  expect(kAll, {.iteration = 7, .minutes_since_start = 61, .trigger = Trigger::save},
         SaveKind::persistent, ExitReason::duration);
}

TEST(ExitConditions, OneRankIsEnough) {
  Index largest = 0;
  const auto ask = [&](Index wish) { return largest = std::max(largest, wish); };
  const ExitConditions conditions(kAll, ask);
  conditions.decide({.iteration = 1, .signal = SIGUSR2});  // on another rank
  const ExitDecision decision =
      conditions.decide({.iteration = 1, .minutes_since_start = 61, .trigger = Trigger::stop});
  EXPECT_EQ(decision.reason, ExitReason::signal);
  EXPECT_EQ(decision.message, "exiting program after receiving SIGUSR2.");
  EXPECT_EQ(decision.save, SaveKind::persistent);
}

TEST(ExitConditions, EveryIterationAsksOnce) {
  int count = 0;
  const ExitConditions conditions(kAll, [&](Index wish) {
    ++count;
    return wish;
  });
  conditions.decide({.iteration = 7});
  conditions.decide({.iteration = 7, .signal = SIGTERM, .seconds_to_job_end = 1});
  conditions.decide({.iteration = 15, .minutes_since_start = 100});
  EXPECT_EQ(count, 3);
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
  EXPECT_EQ(exit_code(ExitReason::stop, true), ExitCode::success);
  EXPECT_EQ(exit_code(ExitReason::resume_later, true), ExitCode::interrupted);
  EXPECT_EQ(exit_code(ExitReason::duration, true), ExitCode::interrupted);
  EXPECT_EQ(static_cast<int>(exit_code(ExitReason::signal, true)), 85);
  EXPECT_EQ(static_cast<int>(exit_code(ExitReason::signal, false)), 86);
}

}  // namespace exit_conditions_test

namespace trigger_files_test {

class TriggerFilesTest : public ::testing::Test {
 protected:
  void touch(const std::string& name) const { std::ofstream(folder_.path() / name).put('\n'); }
  bool is_there(const std::string& name) const {
    return std::filesystem::exists(folder_.path() / name);
  }

  const test::TemporaryFolder folder_;
};

TEST_F(TriggerFilesTest, EachAsksOnce) {
  const TriggerFiles files(folder_.path());
  EXPECT_EQ(files.take(1), Trigger::none);
  touch("SAVE");
  EXPECT_EQ(files.take(2), Trigger::save);
  EXPECT_EQ(files.take(3), Trigger::none);
  touch("STOP");
  touch("SAVE");
  EXPECT_EQ(files.take(4), Trigger::stop);
  EXPECT_FALSE(is_there("SAVE"));
  EXPECT_EQ(files.take(5), Trigger::none);
}

TEST_F(TriggerFilesTest, RequeueIsLookedForAtItsInterval) {
  touch("REQUEUE");
  EXPECT_EQ(TriggerFiles(folder_.path()).take(10), Trigger::none);
  const TriggerFiles files(folder_.path(), 10);
  EXPECT_EQ(files.take(9), Trigger::none);
  EXPECT_TRUE(is_there("REQUEUE"));
  EXPECT_EQ(files.take(10), Trigger::resume_later);
  EXPECT_EQ(files.take(20), Trigger::none);
}

TEST_F(TriggerFilesTest, WithoutAFolderNobodyAsks) {
  EXPECT_EQ(TriggerFiles(std::nullopt, 1).take(1), Trigger::none);
  EXPECT_EQ(TriggerFiles(folder_.path() / "no such folder", 1).take(1), Trigger::none);
}

}  // namespace trigger_files_test
}  // namespace mpitron::train
