#include "parallel/bucketed_data_parallel.h"

#include "parallel/flat_memory.h"

// Reduces gradients by buckets while the backward pass goes on. A bucket starts when it and all
// before it are complete, so that ranks start buckets in one order even where gradients complete
// in different ones; else two ranks would wait for each other in different collectives.

namespace mpitron::parallel {

void BucketedDataParallel::begin_step() {
  for (const auto& buffer : buffers_) {
    buffer->begin_step();
  }
  for (Bucket& bucket : buckets_) {
    bucket.unfinished = bucket.parameters.size();
    bucket.updated = 0;
  }
  started_ = 0;
  gathered_ = 0;
}

/// Buckets are reduced in the order in which they lie, so that all ranks start the same one.
void BucketedDataParallel::gradient_released(Parameter& parameter, bool last_microbatch) {
  if (!options_.overlap_grad_reduce || !last_microbatch || parameter.sink.live_tapes > 0) {
    return;
  }
  --buckets_[bucket_of_.at(&parameter)].unfinished;
  while (started_ < buckets_.size() && buckets_[started_].unfinished == 0) {
    start_reduction(buckets_[started_++]);
  }
}

void BucketedDataParallel::start_reduction(Bucket& bucket) {
  bucket.buffer->finish(bucket.parameters);
  bucket.reduction = shards()
                         ? groups_.shard->reduce_scatter(bucket.gradients, bucket.own_gradients)
                         : groups_.replicas->all_reduce(bucket.gradients);
}

/// Ends a step. With a sharded optimizer first the sum of each shard over its ranks is taken, then
/// that over the replicas of shards.
void BucketedDataParallel::finish_step() {
  make_whole();
  while (started_ < buckets_.size()) {
    start_reduction(buckets_[started_++]);
  }
  for (Bucket& bucket : buckets_) {
    bucket.reduction.wait();
    if (shards()) {
      bucket.reduction = groups_.replicas->all_reduce(bucket.own_gradients);
    }
  }
  for (Bucket& bucket : buckets_) {
    bucket.reduction.wait();
  }
}

void BucketedDataParallel::start_next_gather() {
  Bucket& bucket = buckets_[buckets_.size() - ++gathered_];
  bucket.gathering = groups_.shard->all_gather(bucket.own_values, bucket.values);
}

/// Gathers go in the opposite order of the reductions: the first layer is wanted first.
void BucketedDataParallel::piece_updated(std::size_t piece) {
  if (!shards() || !options_.gather_in_update) {
    return;
  }
  ++buckets_[bucket_of_.at(pieces_[piece].parameter)].updated;
  const auto next = [this]() -> const Bucket& { return buckets_[buckets_.size() - 1 - gathered_]; };
  while (gathered_ < buckets_.size() && next().updated == next().pieces) {
    start_next_gather();
  }
}

/// Starts what the update has not started; with overlap whoever uses a value waits for it.
void BucketedDataParallel::gather_parameters() {
  if (!shards()) {
    return;
  }
  while (gathered_ < buckets_.size()) {
    start_next_gather();
  }
  gathering_ = true;
  if (!options_.overlap_param_gather) {
    make_whole();
  }
}

void BucketedDataParallel::before_use(Parameter& parameter) {
  if (gathering_) {
    buckets_[bucket_of_.at(&parameter)].gathering.wait();
  }
}

void BucketedDataParallel::make_whole() {
  if (gathering_) {
    for (Bucket& bucket : buckets_) {
      bucket.gathering.wait();
    }
    gathering_ = false;
  }
}

}  // namespace mpitron::parallel
