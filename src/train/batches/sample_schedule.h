#pragma once
#include <functional>
#include <vector>

#include "config/run_config.h"
#include "config/training_config.h"
#include "data/loading/batch_sampler.h"
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

/// Place at which a training run uses a sample of its data set.
struct ScheduledSample {
  Index sample = 0;
  Index iteration = 0;  // from 1 on
  Index data_parallel_rank = 0;
  Index microbatch = 0;  // of the rank, within the iteration
};

/// Lists the samples that each iteration uses: a pure function of the configuration, ramp-up and
/// cyclic order included.
class SampleSchedule {
 public:
  /// `total_samples`: of the data set.
  SampleSchedule(const config::RunConfig& config, Index total_samples);

  Index iterations() const { return iterations_; }
  /// Samples consumed before an iteration.
  Index consumed_before(Index iteration) const;
  /// Returns the samples of an iteration, by rank and microbatch. Error(usage) outside [1,
  /// iterations()].
  std::vector<ScheduledSample> at(Index iteration) const;
  /// Every use of samples that `wanted` says yes to, in the order of the iterations.
  std::vector<ScheduledSample> uses(const std::function<bool(Index)>& wanted) const;

 private:
  /// One for each data-parallel rank.
  std::vector<data::BatchSampler> samplers_at(Index consumed) const;
  /// Appends what the samplers give next.
  void append(Index iteration, Index microbatches, std::vector<data::BatchSampler>& samplers,
              std::vector<ScheduledSample>& samples) const;

  data::BatchSamplerRequest request_;
  NumMicrobatches batches_;
  Index iterations_;
};

}  // namespace mpitron::train
