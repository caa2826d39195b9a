#pragma once
#include "autograd/parameter_list.h"

namespace mpitron::parallel {

using autograd::Parameter;
using autograd::ParameterList;

/// How gradients are kept (resolved from the precision options).
struct GradientPolicy {
  DType main_grad_dtype = DType::f32;
  /// Linear layers add into main_grad by the product itself (`gradient_accumulation_fusion`).
  bool fused_linear_gradients = true;
  /// Each microbatch's gradient is rounded to the parameter's type before it is added (fp16).
  bool round_gradients = false;
};

/// One contiguous buffer of main gradients. Every parameter starts at a multiple of 64 elements;
/// the padding is zero, so that norms may run over the whole.
class GradientBuffer {
 public:
  static constexpr Index kAlignment = 64;  // elements

  /// Gives every parameter its `main_grad`.
  GradientBuffer(device::Device& device, ParameterList& parameters, const GradientPolicy& policy);

  /// The next write of every parameter is `=`: nothing is zeroed.
  void begin_step();
  /// Parameters that no microbatch used contribute zeros.
  void finish_step();
  const tensor::Tensor& flat() const { return flat_; }

 private:
  device::Device& device_;
  ParameterList& parameters_;
  tensor::Tensor flat_;  // [n]
};

}  // namespace mpitron::parallel
