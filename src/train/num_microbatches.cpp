#include "train/num_microbatches.h"

#include <algorithm>

#include "utils/error.h"

namespace mpitron::train {

NumMicrobatches::NumMicrobatches(const config::TrainingConfig& config, Index data_parallel_size)
    : global_batch_size_(config.global_batch_size),
      micro_batch_size_(config.micro_batch_size),
      data_parallel_size_(data_parallel_size),
      rampup_(config.rampup_batch_size),
      decrease_if_needed_(config.decrease_batch_size_if_needed) {
  if (micro_batch_size_ < 1 || data_parallel_size_ < 1) {
    throw_usage("--micro-batch-size {} and data parallel size {} must both be 1 or more",
                micro_batch_size_, data_parallel_size_);
  }
  if (rampup_) {
    check_rampup();
  }
  divide(global_batch_size_);
}

void NumMicrobatches::check_rampup() const {
  const auto& [start, increment, samples] = *rampup_;
  const Index gap = global_batch_size_ - start;
  if (start < 1 || increment < 1 || samples < 0 || gap < 0 || gap % increment != 0) {
    throw_usage(
        "--rampup-batch-size {} {} {} does not lead to --global-batch-size {}: the start "
        "and the increment must be above 0 and the gap {} a multiple of the increment",
        start, increment, samples, global_batch_size_, gap);
  }
  for (Index global = start; global < global_batch_size_; global += increment) {
    divide(global);
  }
}

Index NumMicrobatches::scheduled(Index consumed_samples) const {
  const Index full = global_batch_size_;
  if (!rampup_ || rampup_->start == full || consumed_samples > rampup_->samples) {
    return full;
  }
  const auto& [start, increment, samples] = *rampup_;
  if (samples == 0) {
    return full;
  }
  const Index increments = (full - start) / increment;
  // In this order and in double: the reference divides twice, and the rounding decides at the
  // edges.
  const double samples_per_increment =
      static_cast<double>(samples) / static_cast<double>(increments);
  const auto steps =
      static_cast<Index>(static_cast<double>(consumed_samples) / samples_per_increment);
  return std::min(full, start + steps * increment);
}

BatchSize NumMicrobatches::divide(Index global) const {
  const Index unit = micro_batch_size_ * data_parallel_size_;
  if (global % unit != 0 && !decrease_if_needed_) {
    throw_usage(
        "a global batch of {} is no multiple of --micro-batch-size {} x data parallel "
        "size {} = {}. Nearest: {} or {}, or --decrease-batch-size-if-needed",
        global, micro_batch_size_, data_parallel_size_, unit, std::max(unit, global / unit * unit),
        (global / unit + 1) * unit);
  }
  if (global < unit) {
    throw_usage(
        "a global batch of {} is smaller than one microbatch of {} on each of {} data "
        "parallel ranks: --global-batch-size {} is the least",
        global, micro_batch_size_, data_parallel_size_, unit);
  }
  return {.global = global, .running = global / unit * unit, .num_microbatches = global / unit};
}

BatchSize NumMicrobatches::at(Index consumed_samples) const {
  return divide(scheduled(consumed_samples));
}

bool NumMicrobatches::changes_between(Index before, Index after) const {
  return at(before).num_microbatches != at(after).num_microbatches;
}

Index NumMicrobatches::train_iters(Index train_samples) const {
  Index iterations = 0;
  Index consumed = 0;
  if (rampup_) {
    const Index rampup_end = std::min(rampup_->samples, train_samples);
    while (consumed <= rampup_end) {
      consumed += scheduled(consumed);
      ++iterations;
    }
  }
  return iterations + std::max<Index>(0, train_samples - consumed) / global_batch_size_;
}

}  // namespace mpitron::train
