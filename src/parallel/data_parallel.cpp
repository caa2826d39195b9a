// Chooses how a model's replicas keep gradients and states (DDP, ZeRO-1, ZeRO-2, ZeRO-3) and the
// size of buckets.
#include "parallel/data_parallel.h"

#include <algorithm>

#include "parallel/bucketed_data_parallel.h"
#include "parallel/fully_sharded.h"

namespace mpitron::parallel {
namespace {

/// Source: DistributedDataParallelConfig of the reference: 40 million elements, or 1 million a
/// replica. Without overlap one bucket has all.
std::optional<Index> bucket_size(const config::ParallelConfig& config, Index replicas,
                                 Index numel) {
  if (config.ddp_bucket_size) {
    return config.ddp_bucket_size;
  }
  if (config.ddp_num_buckets) {
    return std::max<Index>(numel / *config.ddp_num_buckets, 1);
  }
  if (!config.overlap_grad_reduce) {
    return std::nullopt;
  }
  return std::max(Index{40'000'000}, 1'000'000 * replicas);
}

Sharding sharding_of(config::ShardingStrategy strategy) {
  using enum config::ShardingStrategy;
  switch (strategy) {
    case no_shard:
      return Sharding::none;
    case optim:
      return Sharding::optimizer;
    case optim_grads:
      return Sharding::gradients;
    case optim_grads_params:
      break;
  }
  return Sharding::parameters;
}

/// Counts the elements from the end of one view to the start of the other.
Index elements_between(const tensor::ConstTensorView& one, const tensor::ConstTensorView& other) {
  const Index bytes = static_cast<const char*>(other.data) - static_cast<const char*>(one.data);
  return bytes / static_cast<Index>(size_of(one.dtype)) - one.numel();
}

}  // namespace

DataParallelOptions data_parallel_options(const config::RunConfig& config, Index numel) {
  const config::ParallelConfig& parallel = config.parallel;
  const config::OptimizerConfig& optimizer = config.optimizer;
  const bool fp32_sink = optimizer.main_grad_dtype == DType::f32;
  return {.gradients = {.main_grad_dtype = optimizer.main_grad_dtype,
                        .fused_linear_gradients =
                            config.model.gradient_accumulation_fusion && fp32_sink,
                        .round_gradients = optimizer.fp16},
          .sharding = sharding_of(parallel.sharding_strategy),
          .overlap_grad_reduce = parallel.overlap_grad_reduce,
          .overlap_param_gather = parallel.overlap_param_gather,
          .gather_in_update = parallel.overlap_param_gather_with_optimizer_step,
          .bucket_size = bucket_size(
              parallel, parallel.data_parallel_size * parallel.context_parallel_size, numel),
          .pad_for_bandwidth = parallel.ddp_pad_buckets_for_high_nccl_busbw,
          .replicas_share = parallel.full_sharding_in_hsdp,
          .gathered_elements = parallel.suggested_communication_unit_size,
          .keep_gather_buffers = parallel.fsdp_double_buffer};
}

/// Neighbours in memory become one view: a norm is a few kernels and not one a parameter.
std::vector<tensor::ConstTensorView> DataParallel::gradients(
    const std::function<bool(const Parameter&)>& counts) const {
  std::vector<tensor::ConstTensorView> runs;
  const ParameterPiece* before = nullptr;
  // Backwards: as they lie in memory.
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    if (!piece->counted || !counts(*piece->parameter)) {
      before = nullptr;
      continue;
    }
    const tensor::ConstTensorView view = piece->main_grad.view();
    // Only alignment lies between two neighbours of one buffer.
    const Index gap = before == nullptr || before->buffer != piece->buffer
                          ? -1
                          : elements_between(before->main_grad.view(), view);
    if (gap >= 0 && gap < BucketLayout::kAlignment) {
      const Index numel = runs.back().numel() + gap + view.numel();
      runs.back() = {runs.back().data, view.dtype, {numel}};
    } else {
      runs.push_back(view);
    }
    before = &*piece;
  }
  return runs;
}

std::unique_ptr<DataParallel> make_data_parallel(device::Device& device,
                                                 const std::vector<Parameter*>& parameters,
                                                 const DataParallelOptions& options,
                                                 const ReplicaGroups& groups) {
  if (options.sharding == Sharding::gradients || options.sharding == Sharding::parameters) {
    return std::make_unique<FullySharded>(device, parameters, options, groups);
  }
  MPITRON_CHECK(options.sharding == Sharding::optimizer || groups.shard->size() == 1,
                groups.shard->size());
  return std::make_unique<BucketedDataParallel>(device, parameters, options, groups);
}

}  // namespace mpitron::parallel
