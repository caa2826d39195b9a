#include "comm/watch/start_watch.h"

#include <csignal>
#include <future>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mpitron::comm {
namespace start_watch_test {

TEST(StartWatch, TellsOnceWhatDoesNotComeBack) {
  std::promise<std::string> told;
  std::future<std::string> sentence = told.get_future();
  const StartWatch watch("MPI_Init", 3, 0.01,
                         [&](const std::string& text) { told.set_value(text); });
  ASSERT_EQ(sentence.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  const std::string text = sentence.get();
  EXPECT_NE(text.find("MPI_Init has not come back within 0.0 s on rank 3 ("), std::string::npos)
      << text;
}

TEST(StartWatch, SaysNothingWhereItComesBack) {
  bool told = false;
  {
    const StartWatch watch("MPI_Init", 0, 600, [&](const std::string&) { told = true; });
  }
  EXPECT_FALSE(told);
}

/// A stopped rank that mpirun wakes to end it must not tell a second sentence.
TEST(StartWatch, TimeForWhichTheProcessIsStoppedDoesNotCount) {
  using namespace std::chrono_literals;
  const pid_t child = ::fork();
  if (child == 0) {
    const StartWatch watch("MPI_Init", 0, 2, [](const std::string&) { ::_exit(7); });
    std::this_thread::sleep_for(1min);
    ::_exit(8);
  }
  ::kill(child, SIGSTOP);
  std::this_thread::sleep_for(2500ms);
  ::kill(child, SIGCONT);
  std::this_thread::sleep_for(200ms);
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
}

TEST(StartWatchDeathTest, TheProcessEndsWithTheCodeOfTheEnvironment) {
  EXPECT_EXIT(leave_start(0, "it hangs"), testing::ExitedWithCode(3), "mpitron: it hangs");
}

}  // namespace start_watch_test
}  // namespace mpitron::comm
