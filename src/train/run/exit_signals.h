#pragma once
#include <array>
#include <csignal>
#include <string>

namespace mpitron::train {

/// While it lives, signals that ask the run to stop only set a flag, which the loop reads at the
/// end of an iteration. SIGTERM (with --exit-signal-handler), SIGUSR1, SIGUSR2 and SIGINT ask; a
/// second SIGINT ends the program at once. SIGHUP is ignored. Handlers are async-signal-safe and
/// idempotent: every rank may get the same signal many times. One instance at a time; the
/// destructor restores what was before.
class ExitSignals {
 public:
  explicit ExitSignals(bool handle_sigterm);
  ~ExitSignals();
  ExitSignals(const ExitSignals&) = delete;
  ExitSignals& operator=(const ExitSignals&) = delete;

  /// First signal received on this process, 0: none.
  int received() const;

 private:
  static constexpr std::array<int, 5> kSignals{SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP};
  /// Replaces a handler and remembers the one before for the destructor.
  void install(std::size_t which, const struct sigaction& action);

  std::array<struct sigaction, kSignals.size()> before_{};
  std::array<bool, kSignals.size()> installed_{};
};

/// Remembers SIGUSR1 and SIGUSR2 from now on for the ExitSignals to come: a job may be told to end
/// while its ranks still find each other.
void remember_early_signals();

/// "SIGTERM", "SIGUSR1", ...; "signal N" for others.
std::string signal_name(int signal);

}  // namespace mpitron::train
