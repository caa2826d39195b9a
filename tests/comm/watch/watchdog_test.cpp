#include "comm/watch/watchdog.h"

#include <chrono>

#include <gtest/gtest.h>
#include <signal.h>

#include "comm/watch/failing_ranks.h"
#include "support/program.h"
#include "support/temporary_folder.h"
#include "utils/system/machine.h"

namespace mpitron::comm {
namespace watchdog_test {

TEST_F(FailingRank, ThatWasKilledIsNamedBeforeTheLauncherEndsTheOthers) {
  const test::Finished end = run("kill");
  EXPECT_NE(end.code, 0);
  expect_parts(sentence(end), {"rank 1 (host " + host_name(), "has died",
                               "its last operation was all_reduce 3 of group",
                               "(3 ranks, fp64, 8 bytes), finished", "in phase 'iteration 4'"});
  EXPECT_FALSE(test::contains(end.out, "all iterations done"));
}

TEST_F(FailingRank, ThatHasEndedIsNamed) {
  const test::Finished end = run("leave");
  EXPECT_EQ(end.code, 3);
  expect_parts(sentence(end),
               {"rank 1 (host " + host_name(), "has ended", "all_reduce 4 of group world"});
}

TEST_F(FailingRank, ThatFailsSpeaksForItselfAndGivesTheExitCode) {
  const test::Finished end = run("throw");
  EXPECT_EQ(end.code, 4);
  EXPECT_TRUE(test::contains(end.err, "rank 1 has read a broken file"));
  EXPECT_FALSE(test::contains(end.err, "mpitron: error:"));
}

TEST_F(FailingRank, OfAnotherMachineThatDoesNotAnswerIsNamed) {
  const test::Finished end = run("stop", "012");
  EXPECT_EQ(end.code, 3);
  expect_parts(sentence_of_rank_0(end.err),
               {"rank 1 (host " + host_name(), "has not arrived within",
                "another machine, which does not answer"});
}

TEST_F(FailingRank, NoneMeansNoSentence) {
  for (const std::string nodes : {"", "012"}) {
    const test::Finished end = run("none", nodes);
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_TRUE(test::contains(end.out, "all iterations done"));
    EXPECT_EQ(end.err, "");
  }
}

TEST(WatchdogDeathTest, WhatAGpuDoesEndsTheJobWhereItFailsOrTakesTooLong) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static FlightRing own{};
  const auto stuck = [](double seconds, const std::string& error) {
    std::atomic<int> failure_reporter = 0;
    Watchdog watchdog(own, {.rank = 3,
                            .neighbours = {},
                            .host = [](Index) { return "n01"; },
                            .failure_reporter = &failure_reporter,
                            .timeout_seconds = 60});
    watchdog.stuck("all_reduce of 4 fp32 elements in group data", seconds, error);
  };
  stuck(59, "");
  EXPECT_EXIT(stuck(1, "remote error"), ::testing::ExitedWithCode(3),
              "rank 3 .host n01.: all_reduce of 4 fp32 elements in group data has failed: remote "
              "error");
  EXPECT_EXIT(stuck(61, ""), ::testing::ExitedWithCode(3),
              "all_reduce of 4 fp32 elements in group data has not ended on rank 3 .host n01. "
              "within --distributed-timeout-minutes 1, in phase");
}

}  // namespace watchdog_test

}  // namespace mpitron::comm
