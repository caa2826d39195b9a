#include <algorithm>

#include "parallel/bucketed_data_parallel.h"
#include "parallel/flat_memory.h"

// Which parameters lie in which bucket, and which piece of each is whose.

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

}  // namespace mpitron::parallel
