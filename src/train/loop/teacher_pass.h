#pragma once
#include "config/run_config.h"
#include "train/loop/distinct_rows.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// Writes a model's likeliest words for all rows of its data sets (--teacher-output), for a student
/// that learns from it (--teacher-file). Each replica writes its rows.
class TeacherPass {
 public:
  /// All of them outlive it.
  TeacherPass(TrainStep& step, const TrainedModel& model, const TrainingData& data,
              const config::RunConfig& config)
      : step_(step), model_(model), data_(data), config_(config) {}

  /// Runs the model over all rows and writes the file. Collective.
  void run() const;

 private:
  TrainStep& step_;
  const TrainedModel& model_;
  const TrainingData& data_;
  const config::RunConfig& config_;
};

}  // namespace mpitron::train
