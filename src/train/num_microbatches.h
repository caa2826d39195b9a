#pragma once
#include <optional>

#include "config/training_config.h"
#include "utils/shape.h"

namespace mpitron::train {

/// Batch of one iteration.
struct BatchSize {
  Index global = 0;            // as scheduled; what a dropped remainder was part of
  Index running = 0;           // samples trained: `global` rounded down to a multiple of mbs * dp
  Index num_microbatches = 0;  // per data parallel rank
  /// Samples of `global` that no rank trains (--decrease-batch-size-if-needed).
  Index skipped() const { return global - running; }
  bool operator==(const BatchSize&) const = default;
};

/// Number of microbatches as a pure function of the samples consumed, so that resuming needs no
/// state. Source: num_microbatches_calculator.py of the reference. Differences: every batch size of
/// a ramp-up is checked at construction, and a ramp-up from the final size is constant instead of a
/// division by zero.
class NumMicrobatches {
 public:
  /// Error(usage) when a batch cannot be divided among the data parallel ranks.
  NumMicrobatches(const config::TrainingConfig& config, Index data_parallel_size);

  BatchSize at(Index consumed_samples) const;
  /// True when the step from `before` to `after` consumed samples changes the number of
  /// microbatches: the reference saves a checkpoint there.
  bool changes_between(Index before, Index after) const;
  /// Iterations of a run of `train_samples`, ramp-up included.
  Index train_iters(Index train_samples) const;

 private:
  Index scheduled(Index consumed_samples) const;
  BatchSize divide(Index global) const;
  void check_rampup() const;

  Index global_batch_size_;
  Index micro_batch_size_;
  Index data_parallel_size_;
  std::optional<config::TrainingConfig::RampupBatchSize> rampup_;
  bool decrease_if_needed_;
};

}  // namespace mpitron::train
