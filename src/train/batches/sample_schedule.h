#pragma once
#include <functional>
#include <vector>

#include "config/run_config.h"
#include "data/loading/batch_sampler.h"
#include "train/batches/num_microbatches.h"

namespace mpitron::train {

/// Where a training run uses a sample of its data set.
struct ScheduledSample {
  Index sample = 0;
  Index iteration = 0;  // from 1 on
  Index data_parallel_rank = 0;
  Index microbatch = 0;  // of the rank, within the iteration
};

/// Which samples each iteration uses: a pure function of the configuration, ramp-up and cyclic
/// order included.
class SampleSchedule {
 public:
  /// `total_samples`: of the data set.
  SampleSchedule(const config::RunConfig& config, Index total_samples);

  Index iterations() const { return iterations_; }
  /// Samples consumed before an iteration.
  Index consumed_before(Index iteration) const;
  /// Those of an iteration, by rank and microbatch. Error(usage) outside [1, iterations()].
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
