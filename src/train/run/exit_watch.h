#pragma once
#include <chrono>
#include <optional>

#include "comm/groups/world.h"
#include "config/run_config.h"
#include "train/run/exit_conditions.h"
#include "train/run/exit_signals.h"
#include "utils/timer.h"

namespace mpitron::train {

/// Watches, while it lives, what can ask a run to save or to end: signals, trigger files, its time,
/// the time limit of its job. One instance at a time.
class ExitWatch {
 public:
  ExitWatch(const config::RunConfig& config, comm::World& world);

  void begin_iteration() { iteration_.restart(); }
  /// Collective. `save_seconds`: what a save takes, where that is known.
  ExitDecision end_iteration(Index iteration, std::optional<double> save_seconds);

 private:
  std::optional<double> seconds_to_job_end() const;

  ExitSignals signals_;
  ExitConditions conditions_;
  TriggerFiles triggers_;  // rank 0 looks
  std::optional<std::chrono::system_clock::time_point> job_end_;
  Timer since_start_, iteration_;
  double longest_iteration_ = 0;  // seconds, with its validation
};

}  // namespace mpitron::train
