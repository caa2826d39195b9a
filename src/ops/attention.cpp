#include "ops/attention.h"

#include "autograd/gradient.h"
#include "kernels/attention.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using device::ConstTensorView;
using device::TensorView;
using tensor::Tensor;

/// [s, b, n d] as the kernels want it.
template <class View>
View heads_of(const View& x, const QkvLayout& layout) {
  return device::reshape(
      x, {x.size(0), x.size(1), layout.query_groups, layout.queries_per_group(), layout.head_dim});
}

/// What forward and backward are given alike.
template <class Kernel>
void set_inputs(Kernel& kernel, const Tensor& qkv, const AttentionSettings& settings) {
  const ConstTensorView view = qkv;
  kernel.q = settings.layout.queries(view);
  kernel.k = settings.layout.keys(view);
  kernel.v = settings.layout.values(view);
  if (settings.mask) {
    kernel.mask = settings.mask.view();
  }
  kernel.scale = settings.scale;
  kernel.causal = settings.causal;
  kernel.window = settings.window;
  kernel.dropout = settings.dropout;
}

struct AttentionBackward {
  Tensor qkv, o, lse;
  Slot qkv_slot;
  AttentionSettings settings;

  void operator()(Context& context, Tensor gradient) const {
    const QkvLayout& layout = settings.layout;
    const Tensor dqkv = context.empty(qkv.shape(), qkv.dtype());
    kernels::AttentionBackward kernel;
    set_inputs(kernel, qkv, settings);
    kernel.o = heads_of(ConstTensorView(o), layout);
    kernel.lse = lse.view();
    kernel.d_o = heads_of(ConstTensorView(gradient), layout);
    kernel.dq = layout.queries(dqkv.view());
    kernel.dk = layout.keys(dqkv.view());
    kernel.dv = layout.values(dqkv.view());
    context.launch_with_workspace(kernel);
    autograd::accumulate(context, qkv_slot, dqkv);
  }
};

}  // namespace

Var attention(Context& context, const Var& qkv, const AttentionSettings& settings) {
  const QkvLayout& layout = settings.layout;
  const Index s = qkv.shape()[0], b = qkv.shape()[1];
  const Tensor o = context.empty({s, b, layout.heads * layout.head_dim}, qkv.value.dtype());
  const DType statistics = qkv.value.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor lse = context.empty({b, layout.heads, s}, statistics);
  kernels::AttentionForward kernel;
  set_inputs(kernel, qkv.value, settings);
  kernel.o = heads_of(o.view(), layout);
  kernel.lse = lse.view();
  context.launch_with_workspace(kernel);
  Var result = autograd::variable(o);
  if (context.recording()) {
    context.tape->record(result.slot, AttentionBackward{qkv.value, o, lse, qkv.slot, settings});
  }
  return result;
}

}  // namespace mpitron::ops
