#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/run_config.h"
#include "config/text_task.h"
#include "train/batches/training_data.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// Predictions of a task and what is right: classes, or scores.
struct TaskResult {
  std::vector<double> predicted, labels;

  Index total() const { return static_cast<Index>(labels.size()); }
  /// How many are equal.
  Index correct() const;
  void append(const TaskResult& other);
};

/// Returns the prediction in a sample's numbers: the class with the largest, the first one among
/// equals, or a score.
double prediction_of(std::span<const double> numbers, const config::TextHead& head);

/// Returns a task's measures beside its accuracy, as scikit-learn defines them: F1 of class 1;
/// Matthews' correlation; Pearson's and Spearman's correlations of scores. 0 where one is not
/// defined.
std::vector<std::pair<std::string, double>> other_metrics(const TaskResult& result,
                                                          config::TaskMetric metric);

/// Evaluates a model on the files of --valid-data: each sample once, in every layout.
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
  /// Returns the head's numbers of each sample: [samples, columns], on all ranks.
  std::vector<double> numbers_of(const TaskFile& file) const;
  TaskResult result_of(const TaskFile& file, const std::vector<double>& numbers) const;
  void write_predictions(const std::vector<std::vector<double>>& numbers) const;

  TrainStep& step_;
  const TrainedModel& model_;
  const TrainingData& data_;
  const config::RunConfig& config_;
};

}  // namespace mpitron::train
