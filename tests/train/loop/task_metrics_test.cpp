#include <cmath>

#include <gtest/gtest.h>

#include "train/loop/task_evaluation.h"

namespace mpitron::train {
namespace task_metrics_test {

TEST(TaskMetrics, AreThoseOfScikitLearn) {
  const TaskResult classes{.predicted = {1, 1, 0, 0, 1, 0}, .labels = {1, 0, 0, 1, 1, 0}};
  EXPECT_EQ(classes.correct(), 4);
  EXPECT_NEAR(other_metrics(classes, config::TaskMetric::f1)[0].second, 2.0 / 3, 1e-12);
  EXPECT_NEAR(other_metrics(classes, config::TaskMetric::matthews)[0].second, 1.0 / 3, 1e-12);
  EXPECT_TRUE(other_metrics(classes, config::TaskMetric::accuracy).empty());
  const TaskResult scores{.predicted = {1, 2, 2, 5}, .labels = {0, 1, 3, 4}};
  const auto both = other_metrics(scores, config::TaskMetric::correlation);
  EXPECT_NEAR(both[0].second, 8.0 / std::sqrt(90), 1e-12);
  EXPECT_NEAR(both[1].second, 4.5 / std::sqrt(22.5), 1e-12);
}

TEST(TaskMetrics, WhatIsNotDefinedIsZero) {
  const TaskResult same{.predicted = {0, 0}, .labels = {0, 0}};
  EXPECT_EQ(other_metrics(same, config::TaskMetric::matthews)[0].second, 0);
  EXPECT_EQ(other_metrics(same, config::TaskMetric::f1)[0].second, 0);
  EXPECT_EQ(other_metrics(same, config::TaskMetric::correlation)[0].second, 0);
}

TEST(TaskMetrics, TheFirstOfEqualClassesIsPredicted) {
  const std::vector<double> numbers = {1, 3, 3};
  EXPECT_EQ(prediction_of(numbers, {.outputs = 3}), 1);
  EXPECT_EQ(prediction_of(std::vector<double>{2.5}, {.outputs = 1, .score = true}), 2.5);
}

}  // namespace task_metrics_test
}  // namespace mpitron::train
