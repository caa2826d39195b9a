// Owns the main gradients of one type of parameters in a flat buffer. A step does not zero it: each
// gradient's first write replaces what is there. The padding stays zero, so that norms run over the
// whole.
#include "parallel/gradient_buffer.h"

#include "parallel/flat_memory.h"

namespace mpitron::parallel {

namespace {

BucketLayout one_bucket(const ParameterList& parameters) {
  std::vector<LayoutItem> items;
  for (const Parameter& parameter : parameters) {
    items.push_back({.numel = parameter.value.numel()});
  }
  return lay_out_buckets(items, {});
}

}  // namespace

bool rounds_gradient(const Parameter& parameter, const GradientPolicy& policy) {
  const bool fused = parameter.role.linear_weight && policy.fused_linear_gradients;
  return policy.round_gradients && !fused;
}

GradientBuffer::GradientBuffer(device::Device& device, std::vector<Parameter*> parameters,
                               const BucketLayout& layout, const GradientPolicy& policy)
    : device_(device),
      parameters_(std::move(parameters)),
      flat_(zeros_to_send(device, layout.numel(), policy.main_grad_dtype)) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = *parameters_[i];
    const Index offset = layout.offsets[i];
    parameter.sink.main_grad =
        flat_.slice(0, offset, offset + parameter.value.numel()).reshape(parameter.value.shape());
    parameter.sink.rounds = rounds_gradient(parameter, policy);
  }
}

GradientBuffer::GradientBuffer(device::Device& device, ParameterList& parameters,
                               const GradientPolicy& policy)
    : GradientBuffer(device, parameters.all(), one_bucket(parameters), policy) {}

void GradientBuffer::begin_step() {
  for (Parameter* parameter : parameters_) {
    parameter->sink.written = false;
    parameter->sink.sent = false;
  }
}

void GradientBuffer::finish(std::span<Parameter* const> parameters) {
  for (Parameter* parameter : parameters) {
    if (!parameter->sink.written) {
      fill_zero(device_, parameter->sink.main_grad);
    }
    parameter->sink.sent = true;
  }
}

}  // namespace mpitron::parallel
