#include <gtest/gtest.h>
#include <signal.h>

#include "comm/watch/failing_ranks.h"
#include "support/program.h"
#include "utils/system/machine.h"

namespace mpitron::comm {
namespace watchdog_diagnosis_test {

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

}  // namespace watchdog_diagnosis_test

}  // namespace mpitron::comm
