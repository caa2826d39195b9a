#pragma once
#include <string>
#include <utility>
#include <vector>

#include "config/run_config.h"
#include "train/batches/training_data.h"
#include "train/loop/task_metrics.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// What a model says of the files of --valid-data: each sample once, in every layout.
class TaskEvaluation {
 public:
  /// All of them outlive it.
  TaskEvaluation(TrainStep& step, const TrainedModel& model, const TrainingData& data,
                 const config::RunConfig& config)
      : step_(step), model_(model), data_(data), config_(config) {}

  using Figures = std::vector<std::pair<std::string, double>>;
  /// Prints the reference's lines (epoch -1: nothing is trained) and writes --predictions-path; the
  /// same figures for the log. Collective.
  Figures run(Index epoch) const;

 private:
  /// What the head says of each sample: [samples, columns], on all ranks.
  std::vector<double> numbers_of(const TaskFile& file) const;
  TaskResult result_of(const TaskFile& file, const std::vector<double>& numbers) const;
  void write_predictions(const std::vector<std::vector<double>>& numbers) const;

  TrainStep& step_;
  const TrainedModel& model_;
  const TrainingData& data_;
  const config::RunConfig& config_;
};

}  // namespace mpitron::train
