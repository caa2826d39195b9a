#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "train/reruns/rerun_engine.h"
#include "utils/error.h"

// Comparison of a step with the same step computed again, here or in another run.

namespace mpitron::train {

using config::InjectedError;

namespace {

const Result& named(const Results& results, std::string_view name) {
  const auto found = std::ranges::find(results, name, &Result::name);
  return found != results.end() ? *found : results.front();
}

}  // namespace

/// Bits decide: a step computed twice from the same state must not differ.
RerunDecision RerunEngine::compare_in_place(Index iteration, const First& first,
                                            const Results& results) const {
  const Result& before = first.results[first.rejected];
  const double now = results[first.rejected].value;
  const bool differs = first.injected ? *first.injected == InjectedError::transient_error
                                      : relative_difference(before.value, now) > 0;
  const std::string where = fmt::format("iteration {}: {}", iteration, before.complaint);
  if (differs) {
    return {.exit = ExitCode::result_rejected,
            .status = "FIRST_RERUN_NOT_REPRODUCIBLE",
            .result = now,
            .message = fmt::format(
                "{}; computed again on the same machines the {} is {}: possibly a transient error "
                "of {}. The weights were not updated; start the run again",
                where, before.name, now, options_.machines)};
  }
  if (!options_.can_save) {
    RerunDecision decision = reject(iteration, before);
    decision.status = "FIRST_RERUN_REPRODUCIBLE";
    return decision;
  }
  return {.exit = ExitCode::resume_to_disambiguate,
          .pending = PendingResult{.iteration = iteration,
                                   .name = std::string(before.name),
                                   .value = before.value,
                                   .complaint = before.complaint,
                                   .fatal = before.fatal,
                                   .machines = options_.machines,
                                   .injected = first.injected},
          .status = "FIRST_RERUN_REPRODUCIBLE",
          .result = now,
          .message = fmt::format(
              "{}, twice on {}. The state before this iteration is saved: start the run again on "
              "other machines, which tells whether the figure is right (--rerun-mode disabled goes "
              "on without)",
              where, options_.machines)};
}

/// The second run of a result that was the same twice, now on other machines.
RerunDecision RerunEngine::compare_with_earlier_run(const Results& results) {
  const PendingResult& before = *pending_;
  const double now = named(results, before.name).value;
  const bool differs = before.injected ? *before.injected == InjectedError::persistent_error
                                       : relative_difference(before.value, now) > 0;
  const std::string where = fmt::format("iteration {}: {}", before.iteration, before.complaint);
  if (before.machines == options_.machines) {
    return {.exit = ExitCode::resume_to_disambiguate,
            .pending = before,
            .message = fmt::format("{}, on {}; the rerun must be on other machines, not on the "
                                   "same (--rerun-mode disabled goes on without)",
                                   where, before.machines)};
  }
  if (differs) {
    return {.exit = ExitCode::result_rejected,
            .status = "SECOND_RERUN_NOT_REPRODUCIBLE",
            .result = now,
            .message = fmt::format("{}, on {}; on {} it is {}: possibly a persistent error of the "
                                   "former. Leave these machines out and start the run again",
                                   where, before.machines, options_.machines, now)};
  }
  const PendingResult confirmed = *std::exchange(pending_, {});
  RerunDecision decision{.status = "SECOND_RERUN_REPRODUCIBLE",
                         .result = now,
                         .message = fmt::format("{}, on {} and on {}: the figure is right", where,
                                                confirmed.machines, options_.machines)};
  if (confirmed.fatal) {
    decision.exit = ExitCode::result_rejected;
    decision.message += ". " + advice_on(confirmed.iteration);
  }
  return decision;
}

}  // namespace mpitron::train
