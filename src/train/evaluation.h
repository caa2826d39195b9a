#pragma once
#include <memory>

#include "config/training_config.h"
#include "data/dataset.h"

namespace mpitron::train {

/// What one evaluation reads: whole batches of `--global-batch-size` samples.
struct Evaluation {
  std::shared_ptr<const data::Dataset> dataset;  // null: nothing is evaluated
  Index iterations = 0;
  Index consumed = 0;  // the first sample
  Index batch_size = 0;
  bool whole = false;  // each sample once; the last batch is filled up with samples without loss

  explicit operator bool() const { return dataset != nullptr && iterations > 0; }
  Index samples() const { return iterations * batch_size; }
};

/// `--eval-iters` batches from sample `consumed` on.
Evaluation part_of(std::shared_ptr<const data::Dataset> dataset,
                   const config::TrainingConfig& training, Index consumed);
/// All samples; `--eval-iters` is not asked (the reference computes it likewise).
Evaluation whole_of(std::shared_ptr<const data::Dataset> dataset,
                    const config::TrainingConfig& training);

}  // namespace mpitron::train
