#pragma once
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "config/run_config.h"
#include "train/run/run_identity.h"
#include "utils/error.h"
#include "utils/numbers/shape.h"

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
  std::string metrics = {};  // the folder of metrics.jsonl; empty: none is written
};

/// "running", "finished", "preempted", "failed-retryable", "failed-fatal".
std::string_view to_string(RunStatus status);

/// Returns the status of an exit code: what was interrupted is preempted; what may go well
/// elsewhere or once more (environment, resume_to_disambiguate, a temporary failure) is retryable;
/// all others but success are fatal.
RunStatus run_status(ExitCode code);

/// Writes `folder/run_state.json` whole or not at all; Error(data) when that fails.
void write_run_state(const std::filesystem::path& folder, const RunState& state);

/// Keeps `run_state.json` of a run true: written when training begins, at each new checkpoint, and
/// at the end, by rank 0, or by the rank that fails alone. What ends without a word (a killed rank)
/// leaves "running". A write that fails is a warning: it does not end a training.
class RunStateKeeper {
 public:
  /// `folder`: of the run (--save); none: nothing is written. `metrics`: where it writes
  /// metrics.jsonl, so that `mpitron status` finds them from the folder.
  RunStateKeeper(std::optional<std::filesystem::path> folder, Index rank,
                 const std::optional<std::string>& metrics = std::nullopt);

  /// `saved`: the newest checkpoint, of this run or what it was loaded from.
  void begin(Index iteration, Index consumed_train_samples, std::optional<Index> saved);
  /// An iteration is done.
  void reached(Index iteration, Index consumed_train_samples, std::optional<Index> saved);
  void end(ExitCode code, const std::string& reason);
  /// Ended by an exception; nothing is written before `begin`.
  void fail(const std::exception& error);

 private:
  void write() const;

  std::optional<std::filesystem::path> folder_;
  Index rank_;
  std::string metrics_;
  bool begun_ = false;
  RunState state_;
};

/// `folder/run.json`: what readers of metrics.jsonl need to know of the run that writes it: ranks
/// and layout, sizes of a step, its FLOPs, the options given and all of them. A run that goes on
/// in the folder writes it again. Error(data) when that fails.
void write_run_description(const std::filesystem::path& folder, const config::RunConfig& config,
                           const RunIdentity& identity);

}  // namespace mpitron::train
