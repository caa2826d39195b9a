#include "data/loading/batch_sampler.h"

#include <algorithm>

#include "utils/check.h"
#include "utils/error.h"
#include "utils/numbers/torch_random.h"

// Numbers of the samples of each micro-batch, as Megatron's samplers give them: in order, shuffled
// by epoch, or task by task.

namespace mpitron::data {

std::vector<std::int64_t> epoch_order(Index samples, Index replicas, Index seed, bool whole) {
  std::vector<std::int64_t> order =
      TorchGenerator(static_cast<std::uint64_t>(seed)).permutation(samples);
  const Index rounds = whole ? samples / replicas : (samples + replicas - 1) / replicas;
  order.reserve(static_cast<std::size_t>(rounds * replicas));
  while (static_cast<Index>(order.size()) < rounds * replicas) {
    order.push_back(order[order.size() - static_cast<std::size_t>(samples)]);
  }
  order.resize(static_cast<std::size_t>(rounds * replicas));
  return order;
}

Index BatchSamplerRequest::batches_of_epoch() const {
  const Index own = (total_samples + data_parallel_size - 1) / data_parallel_size;
  const Index batches = (own + (drop_last ? 0 : micro_batch_size - 1)) / micro_batch_size;
  return batches / batches_of_step * batches_of_step;
}

BatchSampler::BatchSampler(const BatchSamplerRequest& request)
    : request_(request),
      step_(request.micro_batch_size * request.data_parallel_size),
      active_(0),
      consumed_(request.consumed_samples) {
  MPITRON_CHECK(step_ > 0 && request.data_parallel_rank < request.data_parallel_size, step_);
  if (request.total_samples <= 0) {
    throw_usage("no sample to consume: the data set is empty");
  }
  active_ = request.total_samples - request.total_samples % step_;
  if (request.kind == SamplerKind::single && consumed_ >= request.total_samples) {
    throw_usage(
        "no sample left to consume: {} consumed of {}; ask for more iterations of data or start "
        "anew",
        consumed_, request.total_samples);
  }
  if (request.kind == SamplerKind::epochs && request.batches_of_epoch() == 0) {
    throw_usage(
        "{} samples are fewer than one step takes: micro-batch size {} times data-parallel size "
        "{}, {} times",
        request.total_samples, request.micro_batch_size, request.data_parallel_size,
        request.batches_of_step);
  }
  if (request.kind == SamplerKind::cyclic && active_ == 0) {
    throw_usage(
        "--dataloader-type cyclic: {} samples are fewer than micro-batch size {} times "
        "data-parallel size {}",
        request.total_samples, request.micro_batch_size, request.data_parallel_size);
  }
}

bool BatchSampler::next(std::vector<Index>& samples) {
  samples.clear();
  if (request_.kind == SamplerKind::single) {
    return next_single(samples);
  }
  request_.kind == SamplerKind::epochs ? next_of_epoch(samples) : next_cyclic(samples);
  return true;
}

/// Replicas take turns in the epoch's order; the last batch of an epoch may be short.
void BatchSampler::next_of_epoch(std::vector<Index>& samples) {
  const Index batch = consumed_ / step_, batches = request_.batches_of_epoch();
  if (batch / batches != epoch_) {
    epoch_ = batch / batches;
    order_ = epoch_order(request_.total_samples, request_.data_parallel_size,
                         request_.seed + epoch_, false);
  }
  const Index mbs = request_.micro_batch_size, replicas = request_.data_parallel_size;
  const Index own = static_cast<Index>(order_.size()) / replicas;
  const Index first = batch % batches * mbs;
  for (Index i = first; i < std::min(first + mbs, own); ++i) {
    samples.push_back(order_[static_cast<std::size_t>(i * replicas + request_.data_parallel_rank)]);
  }
  consumed_ += step_;
}

bool BatchSampler::next_single(std::vector<Index>& samples) {
  const Index last = std::max(request_.total_samples, request_.padded_samples);
  const Index left = last - consumed_;
  if (left < (request_.drop_last ? step_ : 1)) {
    return false;
  }
  const Index first = consumed_ + request_.data_parallel_rank * request_.micro_batch_size;
  const Index end = std::min(first + request_.micro_batch_size, request_.total_samples);
  for (Index i = first; i < end; ++i) {
    samples.push_back(i);
  }
  consumed_ += std::min(step_, left);
  return true;
}

/// Places follow from the consumed samples alone: an epoch is entered in its middle after a
/// restart. With sharding each rank has a stretch of the data set of its own.
void BatchSampler::next_cyclic(std::vector<Index>& samples) {
  if (consumed_ / active_ != epoch_) {
    shuffle_epoch(consumed_ / active_);
  }
  const Index within = consumed_ % active_;
  const Index dp = request_.data_parallel_size;
  const Index rank = request_.data_parallel_rank;
  for (Index i = 0; i < request_.micro_batch_size; ++i) {
    const Index position = request_.data_sharding ? within / dp + i : within + rank + i * dp;
    const Index base = request_.data_sharding ? rank * static_cast<Index>(order_.size()) : 0;
    samples.push_back(base + order_[static_cast<std::size_t>(position)]);
  }
  consumed_ += step_;
}

void BatchSampler::shuffle_epoch(Index epoch) {
  const Index mbs = request_.micro_batch_size;
  const Index count = request_.data_sharding ? request_.total_samples / step_ * mbs
                                             : request_.total_samples / mbs * mbs;
  order_.resize(static_cast<std::size_t>(count));
  TorchGenerator(static_cast<std::uint64_t>(epoch)).permutation(order_);
  epoch_ = epoch;
}

}  // namespace mpitron::data
