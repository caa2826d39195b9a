// Keeps largest values and histories of scales, and the rounded weights of a step. Histories
// advance once a step, over the ranks of the stage, so that scales are those of any layout.
#include "train/model/fp8_state.h"

#include <algorithm>

#include "config/global_batch_size.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/fp8_quantize.h"

namespace mpitron::train {
namespace {

using autograd::Fp8Products;
using tensor::Tensor;

/// Shape of the largest values that the scales follow from.
Shape amax_shape(const Fp8Products& fp8, const Shape& weight) {
  const Index block = fp8.scaling == Fp8Products::Scaling::blocks ? Fp8Products::kBlock : 0;
  const kernels::Fp8Blocks blocks{block, block};
  return {blocks.down(weight[0]), blocks.across(weight[1])};
}

}  // namespace

bool keeps_fp8_weights(const config::RunConfig& config) {
  return config.model.fp8 &&
         config.parallel.sharding_strategy != config::ShardingStrategy::optim_grads_params &&
         config::num_microbatches(config.training, config.parallel.data_parallel_size) > 1;
}

/// Makes memory for the 8-bit numbers of weights that several microbatches of a step share.
Fp8Weights::Fp8Weights(device::Device& device, autograd::ParameterList& parameters, bool keep) {
  if (!keep) {
    return;
  }
  for (autograd::Parameter& parameter : parameters) {
    if (!parameter.fp8) {
      continue;
    }
    const Shape& shape = parameter.value.shape();
    autograd::KeptFp8Weight& kept = kept_.emplace_back();
    kept.values = Tensor::empty(device, {shape[0], shape[1]}, DType::u8);
    kept.transposed = Tensor::empty(device, {shape[1], shape[0]}, DType::u8);
    if (parameter.fp8->scaling != Fp8Products::Scaling::delayed) {
      kept.amax = Tensor::empty(device, amax_shape(*parameter.fp8, shape), DType::f32);
    }
    parameter.fp8->kept = &kept;
    bytes_ += 2 * parameter.value.numel();
  }
}

void Fp8Weights::begin_pass() {
  for (autograd::KeptFp8Weight& kept : kept_) {
    kept.has_values = kept.has_transposed = kept.has_amax = false;
  }
}

namespace {

Tensor zeros(device::Device& device, const Shape& shape) {
  const Tensor x = Tensor::empty(device, shape, DType::f32);
  device::launch(device.stream(), kernels::Fill{.x = x.view(), .value = 0});
  return x;
}

}  // namespace

/// Puts the histories of all scales into one tensor, so that a step updates them by one kernel.
Fp8Histories::Fp8Histories(device::Device& device, autograd::ParameterList& parameters,
                           bool largest)
    : device_(device), largest_(largest) {
  auto delayed = parameters.where([](const autograd::Parameter& parameter) {
    return parameter.fp8 && parameter.fp8->history != nullptr;
  });
  if (delayed.empty()) {
    return;
  }
  const auto first_expert = std::ranges::stable_partition(
      delayed, [](const autograd::Parameter* parameter) { return !parameter->placement.expert; });
  experts_ = Fp8Products::kRoles * (first_expert.begin() - delayed.begin());
  const Index count = Fp8Products::kRoles * static_cast<Index>(delayed.size());
  rows_ = zeros(device, {count, delayed.front()->fp8->history->shape[1]});
  amax_ = zeros(device, {count});
  Index first = 0;
  for (autograd::Parameter* parameter : delayed) {
    const Index last = first + Fp8Products::kRoles;
    parameter->fp8->history->value = rows_.slice(0, first, last);
    parameter->fp8->amax = amax_.slice(0, first, last);
    first = last;
  }
}

/// Joins largest values over the ranks that hold parts of the same tensors, then advances the
/// histories: the same numbers on every rank.
void Fp8Histories::update(const comm::ParallelGroups& groups) {
  if (!rows_) {
    return;
  }
  const auto join = [this](comm::Group& ranks, Index begin, Index end) {
    if (begin < end) {
      ranks.all_reduce(amax_.slice(0, begin, end).view(), comm::Reduction::maximum).wait();
    }
  };
  const Index count = amax_.numel();
  join(*groups.tensor_data_context, 0, experts_);
  join(*groups.expert_tensor, experts_, count);
  join(*groups.expert_data, experts_, count);
  device::launch(
      device_.stream(),
      kernels::Fp8HistoryUpdate{.rows = rows_.view(), .amax = amax_.view(), .largest = largest_});
}

}  // namespace mpitron::train
