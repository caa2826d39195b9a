#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "config/run_config.h"
#include "io/logs/metrics_file.h"
#include "io/logs/tensorboard.h"
#include "train/log/metrics_endpoint.h"
#include "train/log/plan_drift.h"
#include "train/log/progress_bar.h"
#include "train/log/rank_spread.h"
#include "train/step/expert_balance.h"
#include "train/step/iteration_report.h"
#include "train/step/train_step.h"
#include "train/timing/timers.h"

namespace mpitron::train {

/// Position of a run after an iteration.
struct Progress {
  Index iteration = 0;
  Index consumed_samples = 0;
  Index batch_size = 0;  // of this iteration
};

/// Results of one evaluation.
struct ValidationReport {
  std::string where;                   // "iteration 100", or "iteration 100 on test set"
  std::optional<Index> set;            // its number with --multiple-validation-sets
  std::vector<NamedLoss> losses = {};  // what is trained first
  bool test = false;                   // of the test set
};

/// Writes everything that a run says of its iterations: the reference's line every
/// `--log-interval`, TensorBoard events, metrics.jsonl in the TensorBoard folder, a progress bar on
/// a terminal.
class TrainingLog {
 public:
  /// Rank 0 writes; the others take part where a value is made by all.
  TrainingLog(const config::RunConfig& config, Timers& timers, Index rank = 0);

  /// The run begins behind this iteration, 0 where it is new, with these options (names and
  /// values), which TensorBoard shows as texts.
  void begin(Index iteration, std::span<const std::pair<std::string, std::string>> arguments = {});
  void iteration(const Progress& progress, const StepReport& step, TrainStep& state);
  /// Time between the two does not count as training (an evaluation).
  void pause();
  void resume();
  void validation(const ValidationReport& report, const Progress& progress);
  /// Figures of tasks, which have been printed.
  void figures(std::span<const std::pair<std::string, double>> figures, const Progress& progress);

 private:
  void print_line(const Progress& progress, const StepReport& step, TrainStep& state);
  /// Collects the ranks' times of a step's parts and writes the longest of each. Collective.
  void write_timers(Index iteration);
  void write_scalars(const Progress& progress, const StepReport& step, TrainStep& state);
  /// Hands the iteration's figures to the endpoint of --metrics-port.
  void tell_live(const Progress& progress, const StepReport& step, TrainStep& state,
                 double seconds);
  /// Collective: how far the ranks are apart, over the interval of a log line.
  void write_spread(Index iteration, double busy_seconds, TrainStep& state);

  config::RunConfig config_;
  Timers& timers_;
  std::unique_ptr<io::TensorboardWriter> tensorboard_;
  std::unique_ptr<io::MetricsFile> metrics_;
  IntervalAverages averages_;
  CollapsedRouters collapsed_;
  std::unique_ptr<MetricsEndpoint> live_;  // rank 0 with --metrics-port
  StepClock interval_;                     // of a log line
  StepClock iteration_;
  double scalars_seconds_ = 0;  // since the last line of metrics.jsonl
  Index scalars_iterations_ = 0;
  std::optional<ProgressBar> bar_;
  std::optional<PlanDrift> drift_;  // rank 0 with --plan-file
};

}  // namespace mpitron::train
