#include "config/global_batch_size.h"

#include <algorithm>

namespace mpitron::config {

/// Grows by `increment` every `samples / steps` samples, as the reference's
/// RampupBatchsizeNumMicroBatchesCalculator does.
Index scheduled_batch_size(const TrainingConfig& training, Index consumed_samples) {
  const Index full = training.global_batch_size;
  if (!training.rampup_batch_size) {
    return full;
  }
  const TrainingConfig::RampupBatchSize& ramp = *training.rampup_batch_size;
  const Index increments = ramp.increment > 0 ? (full - ramp.start) / ramp.increment : 0;
  if (consumed_samples > ramp.samples || increments <= 0 || ramp.samples <= 0) {
    return full;
  }
  // In this order and in double: the reference divides twice, and the rounding decides at the
  // edges.
  const double samples_per_increment =
      static_cast<double>(ramp.samples) / static_cast<double>(increments);
  const auto steps =
      static_cast<Index>(static_cast<double>(consumed_samples) / samples_per_increment);
  return std::min(full, ramp.start + steps * ramp.increment);
}

Index num_microbatches(const TrainingConfig& training, Index data_parallel_size) {
  return training.global_batch_size / (training.micro_batch_size * data_parallel_size);
}

/// Walks the ramp-up step by step, since its batches are cut to multiples of the replicas, and
/// divides what is left.
Index iterations_for_samples(const TrainingConfig& training, Index train_samples) {
  if (training.global_batch_size <= 0) {
    return 0;
  }
  Index iterations = 0;
  Index consumed = 0;
  if (training.rampup_batch_size &&
      training.rampup_batch_size->start < training.global_batch_size) {
    while (consumed <= training.rampup_batch_size->samples && consumed <= train_samples) {
      const Index size = scheduled_batch_size(training, consumed);
      if (size <= 0) {
        return 0;
      }
      consumed += size;
      ++iterations;
    }
  }
  return iterations + std::max<Index>(0, train_samples - consumed) / training.global_batch_size;
}

/// Stops walking where the full batch is reached: from there on all steps are alike.
Index samples_of_iterations(const TrainingConfig& training, Index iterations) {
  Index done = 0;
  Index consumed = 0;
  Index size = 0;
  while (done < iterations && size < training.global_batch_size) {
    size = scheduled_batch_size(training, consumed);
    if (size <= 0) {
      return 0;
    }
    consumed += size;
    ++done;
  }
  return consumed + (iterations - done) * training.global_batch_size;
}

}  // namespace mpitron::config
