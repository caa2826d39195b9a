// Asks all ranks at the end of each iteration what they wish, in one collective. Before a job's
// time limit it leaves time for the longest iteration so far and a save.
#include "train/run/exit_watch.h"

#include <algorithm>

#include "train/run/batch_job.h"

namespace mpitron::train {
namespace {

/// Duration that a save is thought to have until one has been timed.
constexpr double kUnknownSaveSeconds = 30;

ExitOptions exit_options(const config::RunConfig& config) {
  return {.save = config.checkpoint.save.has_value(),
          .save_interval = config.checkpoint.save_interval,
          .non_persistent_save_interval = config.checkpoint.non_persistent.save_interval,
          .exit_interval = config.training.exit_interval,
          .exit_duration_in_mins = config.training.exit_duration_in_mins};
}

TriggerFiles trigger_files(const config::RunConfig& config, bool looks) {
  return looks ? TriggerFiles(config.checkpoint.save, config.training.autoresume_interval)
               : TriggerFiles(std::nullopt);
}

}  // namespace

/// Gathers everything that may end a run; ranks agree by the largest of their wishes.
ExitWatch::ExitWatch(const config::RunConfig& config, comm::World& world)
    : signals_(config.training.exit_signal_handler),
      conditions_(exit_options(config),
                  [all = world.all()](Index wish) {
                    return static_cast<Index>(
                        all->reduce(static_cast<double>(wish), comm::Reduction::maximum));
                  }),
      triggers_(trigger_files(config, world.rank() == 0)),
      job_end_(batch_job_end()) {}

std::optional<double> ExitWatch::seconds_to_job_end() const {
  if (!job_end_) {
    return std::nullopt;
  }
  return std::chrono::duration<double>(*job_end_ - std::chrono::system_clock::now()).count();
}

ExitDecision ExitWatch::end_iteration(Index iteration, std::optional<double> save_seconds) {
  longest_iteration_ = std::max(longest_iteration_, iteration_.seconds());
  return conditions_.decide(
      {.iteration = iteration,
       .minutes_since_start = since_start_.seconds() / 60,
       .signal = signals_.received(),
       .trigger = triggers_.take(iteration),
       .seconds_to_job_end = seconds_to_job_end(),
       .seconds_to_stop = longest_iteration_ + save_seconds.value_or(kUnknownSaveSeconds)});
}

}  // namespace mpitron::train
