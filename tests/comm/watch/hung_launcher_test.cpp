#include "comm/watch/hung_launcher.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mpitron::comm {
namespace hung_launcher_test {

using namespace std::chrono_literals;

/// How a rank ends.
enum class End { leaves_within, killed_within, leaves_later };

/// Ends this process, a rank, within a watch or after it.
[[noreturn]] void end_rank(End end) {
  {
    const LauncherWatch watch(0.2);
    if (end == End::killed_within) {
      ::kill(::getpid(), SIGKILL);
    }
    if (end == End::leaves_within) {
      ::_exit(3);
    }
  }
  ::_exit(3);
}

/// A launcher of this name with one rank; it hangs at the rank's end until it is killed.
class Launcher {
 public:
  Launcher(const char* name, End end) : process_(::fork()) {
    if (process_ != 0) {
      return;
    }
    ::prctl(PR_SET_NAME, name);
    if (::fork() == 0) {
      end_rank(end);
    }
    while (true) {
      ::pause();
    }
  }
  ~Launcher() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// The signal that ended it; 0 where it is still there after that time.
  int ended_by(std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
      int status = 0;
      if (::waitpid(process_, &status, WNOHANG) == process_) {
        process_ = -1;
        return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
      }
      std::this_thread::sleep_for(10ms);
    }
    return 0;
  }

 private:
  pid_t process_;
};

TEST(HungLauncher, AnMpirunThatOutlivesARankIsKilled) {
  EXPECT_EQ(Launcher("mpirun", End::leaves_within).ended_by(1min), SIGKILL);
  EXPECT_EQ(Launcher("mpirun", End::killed_within).ended_by(1min), SIGKILL);
}

TEST(HungLauncher, OneWhoseRankLeftMpiInitIsLeftAlone) {
  EXPECT_EQ(Launcher("mpirun", End::leaves_later).ended_by(1s), 0);
}

TEST(HungLauncher, OtherLaunchersAreLeftAlone) {
  EXPECT_EQ(Launcher("srun", End::leaves_within).ended_by(1s), 0);
}

TEST(HungLauncher, RanksOfOtherMachinesTakeLonger) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "16", 1);
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "16", 1);
  EXPECT_EQ(patience_with_mpirun(), 3);
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "8", 1);
  EXPECT_EQ(patience_with_mpirun(), 30);
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  EXPECT_EQ(patience_with_mpirun(), 30);
}

}  // namespace hung_launcher_test
}  // namespace mpitron::comm
