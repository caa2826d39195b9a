#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/loop/task_evaluation.h"

// The measures of GLUE: accuracy, F1, correlations.

namespace mpitron::train {
namespace {

/// Counts how often class 1 is predicted and right, predicted and wrong, and so on.
struct Confusion {
  double true_positive = 0, false_positive = 0, false_negative = 0, true_negative = 0;

  explicit Confusion(const TaskResult& result) {
    for (std::size_t i = 0; i < result.labels.size(); ++i) {
      const bool predicted = result.predicted[i] == 1, right = result.labels[i] == 1;
      (predicted ? (right ? true_positive : false_positive)
                 : (right ? false_negative : true_negative)) += 1;
    }
  }
  double f1() const {
    const double all = 2 * true_positive + false_positive + false_negative;
    return all > 0 ? 2 * true_positive / all : 0;
  }
  double matthews() const {
    const double norm = (true_positive + false_positive) * (true_positive + false_negative) *
                        (true_negative + false_positive) * (true_negative + false_negative);
    return norm > 0
               ? (true_positive * true_negative - false_positive * false_negative) / std::sqrt(norm)
               : 0;
  }
};

/// Pearson's correlation; 0 where one of both is constant.
double pearson(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

/// Ranks values from 1 on; equal values share the mean of their ranks, as Spearman's correlation
/// wants it.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) {
      ++end;
    }
    for (std::size_t i = first; i < end; ++i) {
      result[order[i]] = static_cast<double>(first + end + 1) / 2;
    }
    first = end;
  }
  return result;
}

}  // namespace

Index TaskResult::correct() const {
  Index count = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    count += predicted[i] == labels[i] ? 1 : 0;
  }
  return count;
}

void TaskResult::append(const TaskResult& other) {
  predicted.insert(predicted.end(), other.predicted.begin(), other.predicted.end());
  labels.insert(labels.end(), other.labels.begin(), other.labels.end());
}

double prediction_of(std::span<const double> numbers, const config::TextHead& head) {
  return head.score ? numbers.front()
                    : static_cast<double>(std::ranges::max_element(numbers) - numbers.begin());
}

std::vector<std::pair<std::string, double>> other_metrics(const TaskResult& result,
                                                          config::TaskMetric metric) {
  switch (metric) {
    case config::TaskMetric::f1:
      return {{"F1", Confusion(result).f1()}};
    case config::TaskMetric::matthews:
      return {{"Matthews correlation", Confusion(result).matthews()}};
    case config::TaskMetric::correlation:
      return {{"Pearson correlation", pearson(result.predicted, result.labels)},
              {"Spearman correlation", pearson(ranks(result.predicted), ranks(result.labels))}};
    case config::TaskMetric::accuracy:
      break;
  }
  return {};
}

}  // namespace mpitron::train
