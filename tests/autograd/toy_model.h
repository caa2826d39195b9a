#pragma once
#include <cmath>

#include "autograd/activation_offload.h"
#include "autograd/parameter_list.h"
#include "autograd/recompute.h"
#include "kernels/elementwise/activation.h"
#include "kernels/elementwise/dropout.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "support/tensors.h"

// A residual network of three ops, written against the tape alone: what the tape's own tests train.

namespace mpitron::autograd::toy {

/// y = x weight^T; saves x.
inline Var linear(Context& context, const Var& x, Parameter& weight) {
  context.use(weight);
  const Tensor xv = x.value;
  const Tensor y = context.empty({xv.shape()[0], weight.value.shape()[0]}, DType::f32);
  context.launch(kernels::Matmul{
      .a = xv.view(), .b = weight.value.view(), .c = y.view(), .transpose_b = true});
  Var result = variable(y);
  if (context.recording()) {
    context.record(result.slot, [xv, slot = x.slot, &weight](Context& inner, Tensor dy) {
      accumulate_parameter(inner, weight, [&](const device::TensorView& sink, bool adding) {
        inner.launch(kernels::Matmul{
            .a = dy.view(), .b = xv.view(), .c = sink, .transpose_a = true, .accumulate = adding});
      });
      const Tensor dx = inner.empty(xv.shape(), DType::f32);
      inner.launch(kernels::Matmul{.a = dy.view(), .b = weight.value.view(), .c = dx.view()});
      accumulate(inner, slot, dx);
    });
  }
  return result;
}

/// y = dropout(gelu(x)); saves x. The mask is a function of the context's key and `layer`.
inline Var gelu_dropout(Context& context, const Var& x, std::uint32_t layer) {
  kernels::DropoutMask mask;
  if (context.training()) {
    mask.key = RngKey{context.seed, context.iteration, layer, 0}.philox();
    mask.threshold = kernels::dropout_threshold(0.25);
    mask.index.sample_offset = context.position.first_sample;
  }
  const Tensor xv = x.value, y = context.empty(xv.shape(), DType::f32);
  context.launch(kernels::BiasActivationForward{.x = xv.view(), .bias = {}, .y = y.view()});
  context.launch(kernels::BiasDropoutAddForward{
      .x = y.view(), .bias = {}, .residual = {}, .y = y.view(), .batch = 1, .mask = mask});
  Var result = variable(y);
  if (context.recording()) {
    context.record(result.slot, [xv, slot = x.slot, mask](Context& inner, Tensor dy) {
      const Tensor dx = inner.empty(xv.shape(), DType::f32);
      inner.launch(
          kernels::DropoutBackward{.dy = dy.view(), .dx = dx.view(), .batch = 1, .mask = mask});
      inner.launch(kernels::BiasActivationBackward{
          .x = xv.view(), .dy = dx.view(), .bias = {}, .dx = dx.view()});
      accumulate(inner, slot, dx);
    });
  }
  return result;
}

/// y = a + b; saves nothing.
inline Var add(Context& context, const Var& a, const Var& b) {
  const Tensor y = context.empty(a.shape(), DType::f32);
  context.launch(kernels::Add{.a = a.value.view(), .b = b.value.view(), .y = y.view()});
  Var result = variable(y);
  if (context.recording()) {
    context.record(result.slot, [a = a.slot, b = b.slot](Context& inner, Tensor dy) {
      accumulate(inner, a, dy);
      accumulate(inner, b, dy);
    });
  }
  return result;
}

constexpr Index kRows = 6, kHidden = 8, kLayers = 4;

/// A parameter whose main_grad is NaN until it is written.
inline Parameter& make_weight(device::Device& device, ParameterList& parameters, Index out,
                              Index in) {
  const auto seed = static_cast<unsigned>(parameters.size());
  Parameter& weight = parameters.add({.name = "w" + std::to_string(seed), .shape = {out, in}});
  weight.value = test::random_tensor(device, {out, in}, DType::f32, seed);
  weight.sink.main_grad = Tensor::empty(device, {out, in}, DType::f32);
  return weight;
}

/// x + linear(gelu_dropout(linear(x))), four times.
class Model {
 public:
  explicit Model(device::Device& device) : device_(device) {
    for (Index layer = 0; layer < kLayers; ++layer) {
      make_weight(device, parameters_, 4 * kHidden, kHidden);
      make_weight(device, parameters_, kHidden, 4 * kHidden);
    }
    begin_step();
  }

  void begin_step() {
    for (Parameter& parameter : parameters_) {
      const std::vector<double> poison(static_cast<std::size_t>(parameter.sink.main_grad.numel()),
                                       NAN);
      test::set_values(parameter.sink.main_grad, poison);
      parameter.sink.written = false;
    }
  }

  Var forward(Context& context, Var x, bool recomputed = false) {
    auto weight = parameters_.begin();
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
      Parameter &up = *weight++, &down = *weight++;
      const auto block = [&up, &down, layer](Context& inner, const Var& input) {
        return add(inner, input,
                   linear(inner, gelu_dropout(inner, linear(inner, input, up), layer), down));
      };
      x = recomputed                            ? recompute(context, block, x)
          : context.recorder.offload != nullptr ? context.recorder.offload->run(context, block, x)
                                                : block(context, x);
    }
    return x;
  }

  Tensor input(unsigned microbatch) const {
    return test::random_tensor(device_, {kRows, kHidden}, DType::f32, 100 + microbatch);
  }
  std::vector<std::byte> gradient_bits() const {
    std::vector<std::byte> bits;
    for (const Parameter& parameter : parameters_) {
      const std::vector<std::byte> own = test::bits_of(parameter.sink.main_grad);
      bits.insert(bits.end(), own.begin(), own.end());
    }
    return bits;
  }
  ParameterList& parameters() { return parameters_; }

 private:
  device::Device& device_;
  ParameterList parameters_;
};

}  // namespace mpitron::autograd::toy
