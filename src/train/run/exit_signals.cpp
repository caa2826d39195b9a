// Catches signals that ask a run to stop. A handler only sets a flag, but for a second SIGINT,
// which ends the program at once: everything else is done by the loop at the end of an iteration,
// where all ranks agree.
#include "train/run/exit_signals.h"

#include <atomic>

#include "utils/check.h"

namespace mpitron::train {
namespace {

// A handler can reach nothing but globals; lock-free atomics are safe in it.
std::atomic<int> g_received{0};
std::atomic<int> g_interrupts{0};
std::atomic<bool> g_installed{false};
std::atomic<bool> g_remembers{false};
static_assert(std::atomic<int>::is_always_lock_free);

void remember(int signal) {
  int none = 0;
  g_received.compare_exchange_strong(none, signal);
}

void interrupt(int signal) {
  remember(signal);
  if (g_interrupts++ > 0) {
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  }
}

}  // namespace

/// Installs the handlers; the ones before are put back at the end. Signals that came earlier and
/// were remembered count.
ExitSignals::ExitSignals(bool handle_sigterm) {
  MPITRON_CHECK(!g_installed.exchange(true), "exit signals are handled already");
  if (!g_remembers.exchange(false)) {
    g_received = 0;
  }
  g_interrupts = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == SIGTERM && !handle_sigterm) {
      continue;
    }
    struct sigaction action {};
    action.sa_flags = SA_RESTART;
    action.sa_handler = kSignals[i] == SIGINT   ? &interrupt
                        : kSignals[i] == SIGHUP ? SIG_IGN
                                                : &remember;
    install(i, action);
  }
}

void ExitSignals::install(std::size_t which, const struct sigaction& action) {
  installed_[which] = ::sigaction(kSignals[which], &action, &before_[which]) == 0;
}

ExitSignals::~ExitSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (installed_[i]) {
      ::sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  g_installed = false;
}

int ExitSignals::received() const {
  return g_received;
}

/// A signal that comes while a run starts is obeyed once it trains.
void remember_early_signals() {
  g_remembers = true;
  g_received = 0;
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = &remember;
  ::sigaction(SIGUSR1, &action, nullptr);
  ::sigaction(SIGUSR2, &action, nullptr);
}

/// "SIGTERM" of 15; the number where it has no name here.
std::string signal_name(int signal) {
  switch (signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGUSR1:
      return "SIGUSR1";
    case SIGUSR2:
      return "SIGUSR2";
    default:
      return "signal " + std::to_string(signal);
  }
}

}  // namespace mpitron::train
