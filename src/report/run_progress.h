#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "report/run_folder.h"

namespace mpitron::report {

/// Returns the runs as one JSON object: {"runs": [{name, state, facts, given, options, columns}]}.
/// The columns stand over "iteration", "tokens" and "hours" (of training, without pauses between
/// jobs); null where a value is missing. Of more than `points` rows every n-th is kept, and all
/// that hold a rare value (a validation loss); 0 keeps all. `mpitron report --json` and its page
/// have the same.
std::string runs_json(const std::vector<RunFolder>& runs, std::size_t points,
                      std::filesystem::file_time_type now);

/// The place where a run stands; kMissing for what it has not told.
struct RunProgress {
  std::string state;   // "running", "silent", "finished", "preempted", "failed-retryable", ...
  std::string reason;  // why, where the run has said so
  std::int64_t iteration = 0;
  std::int64_t train_iters = 0;             // 0: unknown
  double silent_seconds = 0;                // since it wrote last
  double seconds_per_iteration = kMissing;  // median of the last ones
  double tokens_per_second = kMissing;      // likewise
  double tokens = kMissing;                 // in all
  double seconds_left = kMissing;           // of a run that goes on
  double tflops_per_rank = kMissing;
  double validation_loss = kMissing;
  std::int64_t validation_iteration = 0;

  bool goes_on() const { return state == "running" || state == "silent"; }
};

/// Returns where a run stands at `now`, which tells a run that goes on from one that is silent: it
/// has written nothing for some time and for several iterations. What run_state.json says counts
/// unless the run has gone on since.
RunProgress progress_of(const RunFolder& run, std::filesystem::file_time_type now);

/// Returns the middle one of the last `count` finite values; kMissing of none.
double median_of_last(std::span<const double> values, std::size_t count);

}  // namespace mpitron::report
