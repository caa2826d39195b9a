#include "comm/watch/watchdog.h"

#include <chrono>

#include <gtest/gtest.h>
#include <signal.h>

#include "support/program.h"
#include "support/temporary_folder.h"
#include "utils/system/machine.h"

namespace mpitron::comm {
namespace watchdog_test {

/// Three ranks, of which rank 1 goes wrong in iteration 4. Only who is stopped needs the timeout
/// (of three seconds; a minute for the others).
class FailingRank : public ::testing::Test {
 protected:
  /// `nodes`: the node of each rank, a digit.
  test::Finished run(const std::string& mode, const std::string& nodes = "") {
    std::vector<std::string> arguments = {"-n", "3", MPITRON_FAILING_RANK, mode,
                                          mode == "stop" || mode == "sleep" ? "0.05" : "1"};
    if (!nodes.empty()) {
      arguments.push_back(nodes);
    }
    const auto start = std::chrono::steady_clock::now();
    const test::Finished end =
        test::run_program(folder_.path(), arguments,
                          {.variables = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                         {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                         {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                         {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                         {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                         // As tests/CMakeLists.txt says of all ranks.
                                         {"ASAN_OPTIONS", "fast_unwind_on_malloc=0"}},
                           .limit = std::chrono::seconds(60)});
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    EXPECT_LT(passed.count(), 20) << "seconds after the failure";
    return end;
  }

  /// The one line of mpitron itself.
  static std::string sentence(const test::Finished& end) {
    const std::string start = "mpitron: error: ";
    const auto at = end.err.find(start);
    if (at == std::string::npos) {
      ADD_FAILURE() << "no sentence in " << end.err;
      return "";
    }
    EXPECT_EQ(end.err.find(start, at + 1), std::string::npos) << "twice: " << end.err;
    return end.err.substr(at + start.size(), end.err.find('\n', at) - at - start.size());
  }

  static void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
      EXPECT_TRUE(test::contains(text, part)) << "no '" << part << "' in: " << text;
    }
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(FailingRank, ThatWasKilledIsNamedBeforeTheLauncherEndsTheOthers) {
  const test::Finished end = run("kill");
  EXPECT_NE(end.code, 0);
  expect_parts(sentence(end), {"rank 1 (host " + host_name(), "has died",
                               "its last operation was all_reduce 3 of group",
                               "(3 ranks, fp64, 8 bytes), finished", "in phase 'iteration 4'"});
  EXPECT_FALSE(test::contains(end.out, "all iterations done"));
}

TEST_F(FailingRank, ThatIsStoppedIsNamedAfterTheTimeoutAndEndsToo) {
  const test::Finished end = run("stop");
  EXPECT_EQ(end.code, 3);
  const std::string said = sentence(end);
  expect_parts(said, {"rank 1 (host " + host_name(),
                      "has not arrived within --distributed-timeout-minutes 0.05",
                      "waits for it in all_reduce 4 of group world", "in phase 'iteration 4'",
                      "its process is stopped (SIGSTOP)"});
  const auto at = said.find("process ");
  ASSERT_NE(at, std::string::npos);
  const pid_t process = std::stoi(said.substr(at + 8));
  for (int i = 0; i < 100 && ::kill(process, 0) == 0; ++i) {
    ::usleep(50'000);
  }
  EXPECT_NE(::kill(process, 0), 0) << "the stopped process is still there";
}

TEST_F(FailingRank, ThatCallsSomethingElseIsNamedAtOnce) {
  const test::Finished end = run("different");
  EXPECT_EQ(end.code, 3);
  expect_parts(sentence(end), {"rank 1 (host " + host_name(), "does something else than its group",
                               "rank 1 calls broadcast of 1 fp64 elements where rank 0 calls "
                               "all_reduce of 1 fp64 elements",
                               "in phase 'iteration 4'"});
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

/// The sentence of rank 0, which is alone on its machine.
std::string sentence_of_rank_0(const std::string& err) {
  const auto at = err.find("; rank 0 waits for it in ");
  const auto begin = err.rfind("mpitron: error: ", at);
  return at == std::string::npos ? "" : err.substr(begin, err.find('\n', at) - begin);
}

TEST_F(FailingRank, OfAnotherMachineThatIsStoppedIsKnownFromItsNeighbour) {
  const test::Finished end = run("stop", "011");
  EXPECT_EQ(end.code, 3);
  expect_parts(sentence_of_rank_0(end.err),
               {"rank 1 (host " + host_name(), "has not arrived within",
                "its last operation was all_reduce 3 of group world (3 ranks, fp64, 8 bytes)",
                "in phase 'iteration 4'", "its process is stopped (SIGSTOP)"});
}

TEST_F(FailingRank, OfAnotherMachineThatIsBusySaysItself) {
  const test::Finished end = run("sleep", "012");
  EXPECT_EQ(end.code, 3);
  expect_parts(sentence_of_rank_0(end.err),
               {"rank 1 (host " + host_name(), "has not arrived within",
                "its last operation was all_reduce 3 of group world (3 ranks, fp64, 8 bytes)",
                "in phase 'iteration 4'"});
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
