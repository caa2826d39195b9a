#pragma once
#include "config/training_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::train {

/// Batch of one iteration.
struct BatchSize {
  Index global = 0;            // as scheduled
  Index running = 0;           // samples trained: a multiple of micro batch * replicas; what is
                               // left is skipped (--decrease-batch-size-if-needed)
  Index num_microbatches = 0;  // per data parallel rank
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

 private:
  BatchSize divide(Index global) const;
  void check_rampup() const;

  config::TrainingConfig training_;
  Index data_parallel_size_;
};

}  // namespace mpitron::train
