#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/metrics_log.h"

namespace mpitron::report {

/// Name and value of an option, the value as JSON would show it (texts without quotes).
using NamedValue = std::pair<std::string, std::string>;

/// Contents of run.json (train::write_run_description); zeros and blanks where it is missing.
struct RunDescription {
  std::string build;
  std::int64_t world_size = 0;
  std::int64_t train_iters = 0;
  std::int64_t seq_length = 0;
  double flops_per_sample = 0;
  std::vector<NamedValue> layout;   // of more than one rank: "tensor" "2", ...
  std::vector<NamedValue> given;    // options that the user gave
  std::vector<NamedValue> options;  // all
  std::filesystem::path save;       // the folder of its checkpoints; empty: none
};

/// Contents of run_state.json (train::RunState).
struct SavedState {
  std::string state;  // "running", "finished", "preempted", "failed-retryable", "failed-fatal"
  std::string reason;
  std::filesystem::file_time_type written;
};

/// Everything that a run's folder holds about it.
struct RunFolder {
  std::string name;            // the folder's, made unique by read_runs
  std::filesystem::path path;  // as given
  RunDescription description;
  std::optional<SavedState> state;
  MetricsLog metrics;
  std::filesystem::file_time_type written;  // the newest line of metrics.jsonl
  std::vector<std::string> files = {};      // that it was read from
};

/// Reads `path`: the folder that --tensorboard-dir named, the one above it, or that of --save.
/// Error(data) where it is missing, holds no metrics.jsonl, or one of its files is no JSON.
RunFolder read_run(const std::filesystem::path& path);

/// Reads several runs and gives each a name of its own.
std::vector<RunFolder> read_runs(const std::vector<std::string>& paths);

}  // namespace mpitron::report
