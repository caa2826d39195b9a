#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/text_task.h"

namespace mpitron::train {

/// Predictions of a task and what is right: classes, or scores.
struct TaskResult {
  std::vector<double> predicted, labels;

  Index total() const { return static_cast<Index>(labels.size()); }
  /// How many are equal.
  Index correct() const;
  void append(const TaskResult& other);
};

/// What the numbers of a sample say: the class with the largest, the first one among equals, or a
/// score.
double prediction_of(std::span<const double> numbers, const config::TextHead& head);

/// What is told of a task beside its accuracy, as scikit-learn defines it: F1 of class 1; Matthews'
/// correlation; Pearson's and Spearman's correlations of scores. 0 where it is not defined.
std::vector<std::pair<std::string, double>> other_metrics(const TaskResult& result,
                                                          config::TaskMetric metric);

}  // namespace mpitron::train
