#pragma once
#include <memory>
#include <optional>
#include <string>

#include "config/run_config.h"
#include "io/metrics_file.h"
#include "io/tensorboard.h"
#include "train/expert_balance.h"
#include "train/iteration_report.h"
#include "train/progress_bar.h"
#include "train/timers.h"
#include "train/train_step.h"

namespace mpitron::train {

/// Where a run stands after an iteration.
struct Progress {
  Index iteration = 0;
  Index consumed_samples = 0;
  Index batch_size = 0;  // of this iteration
};

/// What one evaluation found.
struct ValidationReport {
  std::string where;         // "iteration 100", or "iteration 100 on test set"
  std::optional<Index> set;  // its number with --multiple-validation-sets
  double loss = 0;
  std::vector<NamedLoss> other_losses = {};  // objectives beside the first
};

/// Everything that a run says of its iterations: the reference's line every `--log-interval`,
/// TensorBoard events, metrics.jsonl in the TensorBoard folder, a progress bar on a terminal.
class TrainingLog {
 public:
  /// Rank 0 writes; the others take part where a value is made by all.
  TrainingLog(const config::RunConfig& config, Timers& timers, Index rank = 0);

  /// A run that goes on after this iteration.
  void resumed_at(Index iteration);
  void iteration(const Progress& progress, const StepReport& step, TrainStep& state);
  /// Time between the two does not count as training (an evaluation).
  void pause() { interval_.stop(); }
  void resume() { interval_.start(); }
  void validation(const ValidationReport& report, const Progress& progress);

 private:
  void print_line(const Progress& progress, const StepReport& step, TrainStep& state);
  /// Collective.
  void write_timers(Index iteration);
  void write_scalars(const Progress& progress, const StepReport& step, TrainStep& state);

  config::RunConfig config_;
  Timers& timers_;
  std::unique_ptr<io::TensorboardWriter> tensorboard_;
  std::unique_ptr<io::MetricsFile> metrics_;
  IntervalAverages averages_;
  CollapsedRouters collapsed_;
  NamedTimer interval_;
  std::optional<ProgressBar> bar_;
};

}  // namespace mpitron::train
