// Launches norm kernels with their gradients. A kernel writes the gradients of gamma and beta at
// once: into main_grad where both sinks allow it, else into buffers.
#include "kernels/elementwise/norm.h"
#include "ops/elementwise/norm.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

ConstTensorView value_of(Parameter* parameter) {
  return parameter != nullptr ? ConstTensorView(parameter->value) : ConstTensorView{};
}

/// A buffer for a parameter's gradient, which kernels of two parameters write at once; then added
/// to the sinks.
class GradientBuffers {
 public:
  GradientBuffers(Context& context, const NormParameters& parameters)
      : context_(context), parameters_(parameters) {}

  /// Straight into main_grad where both sinks allow it, else into buffers of the parameter's type.
  template <class Kernel>
  void run(Kernel kernel) {
    const bool direct = can_write(parameters_.gamma) && can_write(parameters_.beta) &&
                        (parameters_.beta == nullptr ||
                         parameters_.gamma->sink.written == parameters_.beta->sink.written);
    if (direct) {
      kernel.accumulate = parameters_.gamma->sink.written;
      launch(kernel, parameters_.gamma->sink.main_grad, beta_sink());
      mark(parameters_.gamma), mark(parameters_.beta);
      return;
    }
    const Tensor gamma = buffer(parameters_.gamma), beta = buffer(parameters_.beta);
    launch(kernel, gamma, beta);
    add(parameters_.gamma, gamma), add(parameters_.beta, beta);
  }

 private:
  static bool can_write(const Parameter* parameter) {
    return parameter == nullptr || !autograd::detail::writes_through_buffer(*parameter);
  }
  static void mark(Parameter* parameter) {
    if (parameter != nullptr) {
      parameter->sink.written = true;
    }
  }
  Tensor beta_sink() const {
    return parameters_.beta != nullptr ? parameters_.beta->sink.main_grad : Tensor{};
  }
  Tensor buffer(const Parameter* parameter) {
    return parameter != nullptr ? context_.empty(parameter->value.shape(), parameter->value.dtype())
                                : Tensor{};
  }
  void add(Parameter* parameter, const Tensor& gradient) {
    if (parameter != nullptr) {
      autograd::detail::add_buffered(context_, *parameter, gradient);
    }
  }
  template <class Kernel>
  void launch(Kernel kernel, const Tensor& gamma, const Tensor& beta) {
    kernel.dgamma = gamma.view();
    if constexpr (requires { kernel.dbeta; }) {
      kernel.dbeta = beta.view();
    }
    context_.launch_with_workspace(kernel);
  }

  Context& context_;
  const NormParameters& parameters_;
};

}  // namespace

NormStatistics norm_forward(Context& context, const NormParameters& parameters,
                            const NormForwardViews& views) {
  const Index rows = views.x.numel() / views.x.size(-1);
  // Gradient checks run in fp64, and so do their statistics.
  const DType dtype = views.x.dtype == DType::f64 ? DType::f64 : DType::f32;
  NormStatistics statistics{.mean = {}, .rstd = context.empty({rows}, dtype)};
  for (Parameter* parameter : {parameters.gamma, parameters.beta}) {
    if (parameter != nullptr) {
      context.use(*parameter);
    }
  }
  if (parameters.rms) {
    context.launch(kernels::RmsNormForward{.x = views.x,
                                           .gamma = value_of(parameters.gamma),
                                           .y = views.y,
                                           .rstd = statistics.rstd.view(),
                                           .eps = parameters.eps,
                                           .gamma_offset = parameters.gamma_offset});
  } else {
    statistics.mean = context.empty({rows}, dtype);
    context.launch(kernels::LayerNormForward{.x = views.x,
                                             .gamma = value_of(parameters.gamma),
                                             .beta = value_of(parameters.beta),
                                             .y = views.y,
                                             .mean = statistics.mean.view(),
                                             .rstd = statistics.rstd.view(),
                                             .eps = parameters.eps,
                                             .gamma_offset = parameters.gamma_offset});
  }
  return statistics;
}

void norm_backward(Context& context, const NormParameters& parameters,
                   const NormStatistics& statistics, const NormBackwardViews& views) {
  if (!parameters.rms) {
    GradientBuffers(context, parameters)
        .run(kernels::LayerNormBackward{.x = views.x,
                                        .dy = views.dy,
                                        .gamma = value_of(parameters.gamma),
                                        .mean = statistics.mean.view(),
                                        .rstd = statistics.rstd.view(),
                                        .dx_add = views.dx_add,
                                        .dx = views.dx,
                                        .gamma_offset = parameters.gamma_offset});
    return;
  }
  const kernels::RmsNormBackward kernel{.x = views.x,
                                        .dy = views.dy,
                                        .gamma = value_of(parameters.gamma),
                                        .rstd = statistics.rstd.view(),
                                        .dx_add = views.dx_add,
                                        .dx = views.dx,
                                        .gamma_offset = parameters.gamma_offset};
  if (parameters.gamma == nullptr) {
    context.launch_with_workspace(kernel);
  } else {
    GradientBuffers(context, parameters).run(kernel);
  }
}

}  // namespace mpitron::ops
