#include "train/batches/sample_schedule.h"

#include <algorithm>
#include <iterator>

#include "utils/error.h"

namespace mpitron::train {
namespace {

/// Asks for samples as a run's loaders do at its very beginning.
data::BatchSamplerRequest request_of(const config::RunConfig& config, Index total_samples) {
  return {.kind = config.data.dataloader_type == config::DataloaderType::cyclic
                      ? data::SamplerKind::cyclic
                      : data::SamplerKind::single,
          .total_samples = total_samples,
          .micro_batch_size = config.training.micro_batch_size,
          .data_parallel_size = config.parallel.data_parallel_size,
          .data_sharding = config.data.data_sharding};
}

}  // namespace

SampleSchedule::SampleSchedule(const config::RunConfig& config, Index total_samples)
    : request_(request_of(config, total_samples)),
      batches_(config.training, config.parallel.data_parallel_size),
      iterations_(config.training.train_iters) {}

/// Batches may grow, so that the sum is made batch by batch.
Index SampleSchedule::consumed_before(Index iteration) const {
  Index consumed = 0;
  for (Index i = 1; i < iteration; ++i) {
    consumed += batches_.at(consumed).running;
  }
  return consumed;
}

std::vector<ScheduledSample> SampleSchedule::at(Index iteration) const {
  if (iteration < 1 || iteration > iterations_) {
    throw_usage("--iteration {}: the run has iterations 1 to {}", iteration, iterations_);
  }
  const Index consumed = consumed_before(iteration);
  std::vector<data::BatchSampler> samplers = samplers_at(consumed);
  std::vector<ScheduledSample> samples;
  append(iteration, batches_.at(consumed).num_microbatches, samplers, samples);
  return samples;
}

/// One pass over the whole schedule: samplers go on from iteration to iteration.
std::vector<ScheduledSample> SampleSchedule::uses(const std::function<bool(Index)>& wanted) const {
  std::vector<ScheduledSample> found;
  std::vector<ScheduledSample> samples;
  std::vector<data::BatchSampler> samplers = samplers_at(0);
  Index consumed = 0;
  for (Index i = 1; i <= iterations_; ++i) {
    const BatchSize batch = batches_.at(consumed);
    samples.clear();
    append(i, batch.num_microbatches, samplers, samples);
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(found),
                 [&](const ScheduledSample& sample) { return wanted(sample.sample); });
    consumed += batch.running;
  }
  return found;
}

/// A sampler knows its place from the samples that all ranks together have consumed.
std::vector<data::BatchSampler> SampleSchedule::samplers_at(Index consumed) const {
  std::vector<data::BatchSampler> samplers;
  data::BatchSamplerRequest request = request_;
  request.consumed_samples = consumed;
  for (Index rank = 0; rank < request_.data_parallel_size; ++rank) {
    request.data_parallel_rank = rank;
    samplers.emplace_back(request);
  }
  return samplers;
}

/// Appends samples in the order of ranks and, within one, of its microbatches.
void SampleSchedule::append(Index iteration, Index microbatches,
                            std::vector<data::BatchSampler>& samplers,
                            std::vector<ScheduledSample>& samples) const {
  std::vector<Index> batch;
  for (std::size_t rank = 0; rank < samplers.size(); ++rank) {
    for (Index m = 0; m < microbatches && samplers[rank].next(batch); ++m) {
      for (const Index sample : batch) {
        samples.push_back({sample, iteration, static_cast<Index>(rank), m});
      }
    }
  }
}

}  // namespace mpitron::train
