// Reduces gradients by buckets while the backward pass goes on. A bucket starts when it and all
// before it are complete, so that ranks start buckets in one order even where gradients complete
// in different ones; else two ranks would wait for each other in different collectives.
#include "parallel/bucketed_data_parallel.h"

#include <algorithm>

#include "parallel/flat_memory.h"

namespace mpitron::parallel {
namespace {

/// Parameters of one type, in order of creation, with what the layout asks of them.
struct Lane {
  std::vector<Parameter*> parameters;
  std::vector<LayoutItem> items;
};

/// Parameters of one type share buffers.
std::map<DType, Lane> lanes_of(const std::vector<Parameter*>& parameters,
                               const DataParallelOptions& options) {
  std::map<DType, Lane> lanes;
  for (Parameter* const parameter : parameters) {
    Lane& lane = lanes[parameter->value.dtype()];
    // Ranks of another stage, which holds it too, shard it likewise.
    const bool apart =
        options.sharding == Sharding::optimizer && parameter->placement.shared_over_stages;
    lane.parameters.push_back(parameter);
    lane.items.push_back({.numel = parameter->value.numel(), .section = apart ? 1 : 0});
  }
  return lanes;
}

/// The part of x that belongs to member `rank` of `size`.
Tensor part(const Tensor& x, Index rank, Index size) {
  const Index numel = x.numel() / size;
  return x.slice(0, rank * numel, (rank + 1) * numel);
}

}  // namespace

BucketedDataParallel::BucketedDataParallel(device::Device& device,
                                           const std::vector<Parameter*>& parameters,
                                           const DataParallelOptions& options, ReplicaGroups groups)
    : device_(device), options_(options), groups_(std::move(groups)) {
  for (const auto& [dtype, lane] : lanes_of(parameters, options)) {
    add_buckets(lane.parameters, lane.items);
  }
  add_pieces(parameters);
}

/// Each bucket has one piece of gradients, and with a sharded optimizer one of values, for each
/// rank.
void BucketedDataParallel::add_buckets(const std::vector<Parameter*>& parameters,
                                       const std::vector<LayoutItem>& items) {
  const Index rank = groups_.shard->rank(), size = groups_.shard->size();
  const BucketLayout layout =
      lay_out_buckets(items, {.bucket_size = options_.bucket_size,
                              .shards = size,
                              .pad_for_bandwidth = options_.pad_for_bandwidth});
  buffers_.push_back(
      std::make_unique<GradientBuffer>(device_, parameters, layout, options_.gradients));
  GradientBuffer& buffer = *buffers_.back();
  groups_.expect(buffer.flat());
  Tensor values;
  if (shards()) {
    values = zeros_to_send(device_, layout.numel(), parameters.front()->value.dtype());
    move_values(device_, parameters, layout, values);
    groups_.expect(values);
  }
  for (const BucketLayout::Bucket& place : layout.buckets) {
    Bucket& bucket = buckets_.emplace_back();
    bucket.buffer = &buffer;
    bucket.buffer_number = static_cast<Index>(buffers_.size());
    bucket.gradients = buffer.flat().slice(0, place.begin, place.end);
    bucket.own_gradients = part(bucket.gradients, rank, size);
    if (shards()) {
      bucket.values = values.slice(0, place.begin, place.end);
      bucket.own_values = part(bucket.values, rank, size);
    }
    for (const std::size_t item : place.items) {
      bucket.parameters.push_back(parameters[item]);
      bucket_of_[parameters[item]] = buckets_.size() - 1;
    }
  }
}

/// Lists what of each parameter lies in this rank's part of its bucket.
void BucketedDataParallel::add_pieces(const std::vector<Parameter*>& parameters) {
  for (Parameter* const parameter : parameters) {
    Bucket& bucket = buckets_[bucket_of_.at(parameter)];
    const Tensor& own = bucket.own_gradients;
    const Tensor value = flat(parameter->value), gradient = flat(parameter->sink.main_grad);
    const Index start = distance(own, gradient);  // of the parameter, in this rank's part
    const Index begin = std::max<Index>(-start, 0);
    const Index end = std::min(gradient.numel(), own.numel() - start);
    if (begin < end) {
      ++bucket.pieces;
      pieces_.push_back({.parameter = parameter,
                         .begin = begin,
                         .value = value.slice(0, begin, end),
                         .main_grad = gradient.slice(0, begin, end),
                         .buffer = bucket.buffer_number,
                         .counted = groups_.counts()});
    }
  }
}

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
