#pragma once
#include <filesystem>

#include "config/run_config.h"
#include "train/loop/distinct_rows.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// Keeps, for the pairs of a run with --dpo, the margins in log-probability of the model that stays
/// fixed: computed once, by the weights that the run begins with, and kept beside its checkpoints
/// (`reference.h5`) for runs that go on.
class ReferencePass {
 public:
  /// All of them outlive it.
  ReferencePass(TrainStep& step, const TrainedModel& model, const TrainingData& data,
                const config::RunConfig& config)
      : step_(step), model_(model), data_(data), config_(config) {}

  /// Fills `TrainingData::reference` with every row that the run takes of its data sets.
  /// Collective. `begins`: the weights are those that the run begins with; else Error(data) where
  /// the files of the run lack a row.
  void run(bool begins) const;

 private:
  /// Runs the model over the rows that are not known yet.
  void compute(const std::shared_ptr<const DistinctRows>& rows) const;
  /// Writes the file beside the run's checkpoints.
  void keep() const;

  TrainStep& step_;
  const TrainedModel& model_;
  const TrainingData& data_;
  const config::RunConfig& config_;
};

}  // namespace mpitron::train
