// Decides when a run saves or ends, as a pure function of position, time and signals on each rank;
// the ranks' largest wish is then done by all, so that none goes on alone.
#include "train/run/exit_conditions.h"

#include <system_error>
#include <utility>

#include "train/run/exit_signals.h"

namespace mpitron::train {
namespace {

constexpr double kSafetyFactor = 1.5;  // iterations and saves vary

/// Wishes of a rank, in the order of their weight; the largest wish of all ranks is done. Above
/// `signal`: the signal's number.
enum Wish : Index { go_on, save, end_before_limit, end_after_duration, resume_later, stop, signal };

bool due(const std::optional<Index>& interval, Index iteration) {
  return interval && *interval > 0 && iteration % *interval == 0;
}

}  // namespace

ExitConditions::ExitConditions(const ExitOptions& options, MaxOverRanks max_over_ranks)
    : options_(options), max_over_ranks_(std::move(max_over_ranks)) {}

/// The most urgent thing that this rank knows of.
Index ExitConditions::wish(const ExitMoment& moment) const {
  if (moment.signal != 0) {
    return signal + moment.signal;
  }
  if (moment.trigger == Trigger::stop) {
    return stop;
  }
  if (moment.trigger == Trigger::resume_later) {
    return resume_later;
  }
  if (options_.exit_duration_in_mins &&
      moment.minutes_since_start > static_cast<double>(*options_.exit_duration_in_mins)) {
    return end_after_duration;
  }
  if (moment.seconds_to_job_end &&
      *moment.seconds_to_job_end < kSafetyFactor * moment.seconds_to_stop) {
    return end_before_limit;
  }
  return moment.trigger == Trigger::save ? save : go_on;
}

/// Persistent saves come first where both kinds are due.
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

/// The reason with the message that the log and run_state.json get.
ExitDecision ExitConditions::exit_for(Index wish, const ExitMoment& moment) const {
  if (wish > signal) {
    const std::string name = signal_name(static_cast<int>(wish - signal));
    return {.reason = ExitReason::signal,
            .message = fmt::format("exiting program after receiving {}.", name)};
  }
  switch (wish) {
    case stop:
      return {.reason = ExitReason::stop, .message = "exiting program: the file STOP asks for it"};
    case resume_later:
      return {.reason = ExitReason::resume_later,
              .message = "exiting program to resume later: the file REQUEUE asks for it"};
    case end_after_duration:
      return {
          .reason = ExitReason::duration,
          .message = fmt::format("exiting program after {} minutes", moment.minutes_since_start)};
    case end_before_limit:
      return {.reason = ExitReason::job_end,
              .message = "exiting program before the time limit of the job"};
    default:
      break;
  }
  if (due(options_.exit_interval, moment.iteration)) {
    return {.reason = ExitReason::interval,
            .message = fmt::format("exiting program at iteration {}", moment.iteration)};
  }
  return {};
}

/// Ranks may differ in what they have seen (a signal, a clock, a file): the largest wish counts.
ExitDecision ExitConditions::decide(const ExitMoment& moment) const {
  const Index own = wish(moment);
  const Index agreed = max_over_ranks_ ? max_over_ranks_(own) : own;
  ExitDecision decision = exit_for(agreed, moment);
  const bool save_at_once = agreed == save || agreed >= stop;
  decision.save = save_at_once ? SaveKind::none : scheduled_save(moment.iteration);
  if (options_.save && decision.save == SaveKind::none &&
      (save_at_once || decision.reason != ExitReason::none)) {
    decision.save = SaveKind::persistent;
  }
  return decision;
}

ExitCode exit_code(ExitReason reason, bool saved) {
  if (reason == ExitReason::none || reason == ExitReason::stop || reason == ExitReason::interval) {
    return ExitCode::success;
  }
  return saved ? ExitCode::interrupted : ExitCode::interrupted_unsaved;
}

TriggerFiles::TriggerFiles(std::optional<std::filesystem::path> folder,
                           std::optional<Index> autoresume_interval)
    : folder_(std::move(folder)), autoresume_interval_(autoresume_interval) {}

bool TriggerFiles::taken(const char* name) const {
  std::error_code ignored;
  return std::filesystem::remove(*folder_ / name, ignored);
}

/// A file is taken once: it is removed before it is obeyed.
Trigger TriggerFiles::take(Index iteration) const {
  if (!folder_) {
    return Trigger::none;
  }
  Trigger trigger = taken("SAVE") ? Trigger::save : Trigger::none;
  if (autoresume_interval_ && iteration % *autoresume_interval_ == 0 && taken("REQUEUE")) {
    trigger = Trigger::resume_later;
  }
  return taken("STOP") ? Trigger::stop : trigger;
}

}  // namespace mpitron::train
