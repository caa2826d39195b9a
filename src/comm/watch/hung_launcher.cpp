#include "comm/watch/hung_launcher.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mpitron::comm {
namespace {

bool is_mpirun(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::string name;
  return std::getline(file, name) && (name == "mpirun" || name == "orterun" || name == "prterun");
}

/// Closes all descriptors but one: mpirun waits for the ends of its pipes.
void close_all_but(int kept) {
  const long files = ::sysconf(_SC_OPEN_MAX);
  for (int file = 0; file < files && file < 4096; ++file) {
    if (file != kept) {
      ::close(file);
    }
  }
}

/// Never returns. The process is a copy of one with threads: it calls nothing that takes a lock.
[[noreturn]] void watch_over(pid_t launcher, int over, double patience_seconds) {
  constexpr std::timespec kTurn{.tv_sec = 0, .tv_nsec = 50'000'000};
  ::setsid();  // mpirun ends the ranks with all processes of their sessions
  close_all_but(over);
  char byte = 0;
  ssize_t bytes = 0;
  do {
    bytes = ::read(over, &byte, 1);  // 0 bytes: the rank is gone
  } while (bytes < 0 && errno == EINTR);
  const int turns = static_cast<int>(patience_seconds * 1e9 / static_cast<double>(kTurn.tv_nsec));
  for (int i = 0; bytes == 0 && ::kill(launcher, 0) == 0; ++i) {
    if (i == turns) {
      ::kill(launcher, SIGKILL);
      break;
    }
    ::nanosleep(&kTurn, nullptr);
  }
  ::_exit(0);
}

}  // namespace

/// Without a pipe or a process (the system refuses) nobody watches.
LauncherWatch::LauncherWatch(double patience_seconds) {
  const pid_t launcher = ::getppid();
  std::array<int, 2> ends{};
  if (!is_mpirun(launcher) || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return;
  }
  watcher_ = ::fork();
  if (watcher_ == 0) {
    watch_over(launcher, ends[0], patience_seconds);
  }
  ::close(ends[0]);
  over_ = ends[1];
}

LauncherWatch::~LauncherWatch() {
  if (over_ < 0) {
    return;
  }
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = watcher_ > 0 ? ::write(over_, &byte, 1) : 0;
  ::close(over_);
  if (watcher_ > 0) {
    ::waitpid(watcher_, nullptr, 0);
  }
}

double patience_with_mpirun() {
  const char *const all = std::getenv("OMPI_COMM_WORLD_SIZE"), *const here = std::getenv(
                                                                   "OMPI_COMM_WORLD_LOCAL_SIZE");
  const bool one_machine =
      all != nullptr && here != nullptr && std::string(all) == std::string(here);
  return one_machine ? 3 : 30;
}

}  // namespace mpitron::comm
