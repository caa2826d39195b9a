#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "utils/error.h"
#include "utils/shape.h"

namespace mpitron::train {

enum class RunStatus { running, finished, preempted, failed_retryable, failed_fatal };

/// How far a run is, or how it ended, for job scripts: exit codes do not always reach them.
struct RunState {
  RunStatus status = RunStatus::running;
  Index iteration = 0;
  Index consumed_train_samples = 0;
  std::optional<Index> saved_iteration = std::nullopt;  // newest checkpoint
  int exit_code = 0;
  std::string reason = {};
};

/// "running", "finished", "preempted", "failed-retryable", "failed-fatal".
std::string_view to_string(RunStatus status);

/// What an exit code says: 0 finished; 85 and 86 preempted; 3 (environment), 16 and 75 may go well
/// elsewhere or once more: retryable; all others fatal.
RunStatus run_status(ExitCode code);

/// Writes `folder/run_state.json` whole or not at all; Error(data) when that fails.
void write_run_state(const std::filesystem::path& folder, const RunState& state);

}  // namespace mpitron::train
