#include <algorithm>

#include "config/global_batch_size.h"
#include "train/batches/sample_schedule.h"
#include "utils/error.h"

namespace mpitron::train {

/// Checks batch sizes and the ramp-up: each size must be a whole number of microbatches on each
/// replica, or be cut to one by --decrease-batch-size-if-needed.
NumMicrobatches::NumMicrobatches(const config::TrainingConfig& config, Index data_parallel_size)
    : training_(config), data_parallel_size_(data_parallel_size) {
  if (training_.micro_batch_size < 1 || data_parallel_size_ < 1) {
    throw_usage("--micro-batch-size {} and data parallel size {} must both be 1 or more",
                training_.micro_batch_size, data_parallel_size_);
  }
  if (training_.rampup_batch_size) {
    check_rampup();
  }
  for (const config::TrainingConfig::BatchSizeStep& step : training_.batch_size_steps) {
    divide(step.size);
  }
  divide(training_.global_batch_size);
}

/// Every batch size on the way is checked at the start of a run, not hours later when its turn
/// comes.
void NumMicrobatches::check_rampup() const {
  const auto& [start, increment, samples] = *training_.rampup_batch_size;
  const Index full = training_.global_batch_size;
  const Index gap = full - start;
  if (start < 1 || increment < 1 || samples < 0 || gap < 0 || gap % increment != 0) {
    throw_usage(
        "--rampup-batch-size {} {} {} does not lead to --global-batch-size {}: the start "
        "and the increment must be above 0 and the gap {} a multiple of the increment",
        start, increment, samples, full, gap);
  }
  for (Index global = start; global < full; global += increment) {
    divide(global);
  }
}

/// Each data parallel rank gets global / (micro batch * replicas) microbatches; what is left over
/// is an error, or skipped with --decrease-batch-size-if-needed.
BatchSize NumMicrobatches::divide(Index global) const {
  const Index unit = training_.micro_batch_size * data_parallel_size_;
  if (global % unit != 0 && !training_.decrease_batch_size_if_needed) {
    throw_usage(
        "a global batch of {} is no multiple of --micro-batch-size {} x data parallel "
        "size {} = {}. Nearest: {} or {}, or --decrease-batch-size-if-needed",
        global, training_.micro_batch_size, data_parallel_size_, unit,
        std::max(unit, global / unit * unit), (global / unit + 1) * unit);
  }
  if (global < unit) {
    throw_usage(
        "a global batch of {} is smaller than one microbatch of {} on each of {} data "
        "parallel ranks: --global-batch-size {} is the least",
        global, training_.micro_batch_size, data_parallel_size_, unit);
  }
  return {.global = global, .running = global / unit * unit, .num_microbatches = global / unit};
}

BatchSize NumMicrobatches::at(Index consumed_samples) const {
  return divide(config::scheduled_batch_size(training_, consumed_samples));
}

}  // namespace mpitron::train
