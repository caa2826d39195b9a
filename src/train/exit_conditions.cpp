#include "train/exit_conditions.h"

#include <utility>

#include "train/exit_signals.h"

namespace mpitron::train {
namespace {

constexpr double kSafetyFactor = 1.5;  // iterations and saves vary

bool due(const std::optional<Index>& interval, Index iteration) {
  return interval && *interval > 0 && iteration % *interval == 0;
}

}  // namespace

ExitConditions::ExitConditions(const ExitOptions& options, MaxOverRanks max_over_ranks)
    : options_(options), max_over_ranks_(std::move(max_over_ranks)) {}

SaveKind ExitConditions::scheduled_save(Index iteration) const {
  if (!options_.save) {
    return SaveKind::none;
  }
  if (due(options_.save_interval, iteration)) {
    return SaveKind::persistent;
  }
  return due(options_.non_persistent_save_interval, iteration) ? SaveKind::non_persistent
                                                               : SaveKind::none;
}

ExitDecision ExitConditions::timed_exit(const ExitMoment& moment) const {
  if (options_.exit_duration_in_mins) {
    const auto limit = static_cast<double>(*options_.exit_duration_in_mins);
    if (agree(moment.minutes_since_start > limit ? 1 : 0) != 0) {
      return {
          .reason = ExitReason::duration,
          .message = fmt::format("exiting program after {} minutes", moment.minutes_since_start)};
    }
  }
  const bool job_ends = moment.seconds_to_job_end &&
                        *moment.seconds_to_job_end < kSafetyFactor * moment.seconds_to_stop;
  if (agree(job_ends ? 1 : 0) != 0) {
    return {.reason = ExitReason::job_end,
            .message = "exiting program before the time limit of the job"};
  }
  if (due(options_.exit_interval, moment.iteration)) {
    return {.reason = ExitReason::interval,
            .message = fmt::format("exiting program at iteration {}", moment.iteration)};
  }
  return {};
}

ExitDecision ExitConditions::decide(const ExitMoment& moment) const {
  const SaveKind save_at_exit = options_.save ? SaveKind::persistent : SaveKind::none;
  const auto signal = static_cast<int>(agree(moment.signal));
  if (signal != 0) {
    return {.save = save_at_exit,
            .reason = ExitReason::signal,
            .message = fmt::format("exiting program after receiving {}.", signal_name(signal))};
  }
  ExitDecision decision = timed_exit(moment);
  decision.save = scheduled_save(moment.iteration);
  if (decision.reason != ExitReason::none && decision.save == SaveKind::none) {
    decision.save = save_at_exit;
  }
  return decision;
}

ExitCode exit_code(ExitReason reason, bool saved) {
  if (reason == ExitReason::none || reason == ExitReason::interval) {
    return ExitCode::success;
  }
  return saved ? ExitCode::interrupted : ExitCode::interrupted_unsaved;
}

}  // namespace mpitron::train
