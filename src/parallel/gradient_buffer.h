#pragma once
#include <span>
#include <vector>

#include "autograd/parameter_list.h"
#include "parallel/bucket_layout.h"

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

/// Whether a microbatch's gradient is rounded before it is added.
bool rounds_gradient(const Parameter& parameter, const GradientPolicy& policy);

/// One contiguous buffer of main gradients. The padding of the layout is zero, so that norms may
/// run over the whole.
class GradientBuffer {
 public:
  /// Gives every parameter its `main_grad`.
  GradientBuffer(device::Device& device, std::vector<Parameter*> parameters,
                 const BucketLayout& layout, const GradientPolicy& policy);
  /// All in one bucket, nothing shared.
  GradientBuffer(device::Device& device, ParameterList& parameters, const GradientPolicy& policy);

  /// The next write of every parameter is `=`: nothing is zeroed.
  void begin_step();
  /// Parameters that no microbatch used contribute zeros.
  void finish_step() { finish(parameters_); }
  void finish(std::span<Parameter* const> parameters);
  const tensor::Tensor& flat() const { return flat_; }

 private:
  device::Device& device_;
  std::vector<Parameter*> parameters_;
  tensor::Tensor flat_;  // [n]
};

}  // namespace mpitron::parallel
