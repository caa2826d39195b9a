#include "train/model/fp8_weights.h"

#include "config/global_batch_size.h"
#include "kernels/linear/fp8_quantize.h"

namespace mpitron::train {
namespace {

using autograd::Fp8Products;
using tensor::Tensor;

/// Of the largest values that the scales follow from.
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

}  // namespace mpitron::train
