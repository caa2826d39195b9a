#include "comm/watch/start_watch.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/system/machine.h"

namespace mpitron::comm {

namespace {
/// The time is counted in turns, which a stopped process does not take: when mpirun wakes it to end
/// it, it must not complain of the time for which it was stopped itself.
constexpr double kTurnSeconds = 0.05;
}  // namespace

StartWatch::StartWatch(const std::string& what, Index rank, double limit_seconds,
                       std::function<void(const std::string& sentence)> late)
    : thread_([this, what, rank, limit_seconds, late = std::move(late)] {
        std::unique_lock lock(mutex_);
        const std::chrono::duration<double> turn(std::min(kTurnSeconds, limit_seconds));
        for (double waited = 0; waited < limit_seconds; waited += turn.count()) {
          if (over_.wait_for(lock, turn, [this] { return done_; })) {
            return;
          }
        }
        late(
            fmt::format("{} has not come back within {:.1f} s on rank {} ({}, process {}): a "
                        "rank was stopped or did not start, or the network between the machines "
                        "does not carry it; mpitron doctor looks for the reason",
                        what, limit_seconds, rank, host_name(), ::getpid()));
      }) {}

/// Wakes the thread and joins it: the call has come back.
StartWatch::~StartWatch() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  over_.notify_all();
  thread_.join();
}

/// Leaves by _exit, since destructors and MPI's own handlers may wait for what hangs. The first
/// rank that leaves makes mpirun end the others, which takes it a second: so each leaves later than
/// the one before.
void leave_start(Index rank, const std::string& sentence) {
  constexpr Index kLatest = 3;
  std::this_thread::sleep_for(std::chrono::milliseconds(1500 * std::min(rank, kLatest)));
  const std::string line = "mpitron: " + sentence + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(static_cast<int>(ExitCode::environment));
}

}  // namespace mpitron::comm
