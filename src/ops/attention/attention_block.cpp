#include "ops/attention/attention_block.h"

#include "autograd/gradient.h"
#include "kernels/attention/attention_sink.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/attention/attention_chunks.h"

// The step that all attentions share: one kernel launch of some queries on some keys, forward or
// backward, with what belongs to it (bias, mask, dropout, sink). Attentions over a sequence that
// ranks share are made of several of these.

namespace mpitron::ops {
namespace {

using device::ConstTensorView;
using device::TensorView;
using tensor::Tensor;

/// The bias of the heads that are here, [n, distances].
ConstTensorView own_bias(const AttentionSettings& settings) {
  const Tensor& bias = settings.bias.value;
  const Index distances = bias.shape()[0], heads = bias.shape()[2], n = settings.layout.heads;
  const Tensor own = bias.slice(2, settings.first_head, settings.first_head + n);
  return {own.view().data, bias.dtype(), {n, distances}, {1, heads}};
}

/// Sets the arguments that forward and backward have in common.
template <class Kernel>
void set_inputs(Kernel& kernel, const ConstTensorView& queries, const AttentionKeys& keys,
                const AttentionSettings& settings) {
  kernel.q = queries;
  kernel.k = keys.k;
  kernel.v = keys.v;
  kernel.positions = keys.positions;
  if (settings.mask) {
    kernel.mask = settings.mask.view();
  }
  if (settings.seen_until) {
    kernel.seen_until = settings.seen_until.view();
  }
  kernel.scale = settings.scale;
  kernel.causal = settings.causal;
  kernel.window = settings.window;
  kernel.softcap = settings.softcap;
  kernel.dropout = settings.dropout;
  if (settings.bias.value) {
    kernel.bias = own_bias(settings);
  }
}

TensorView packed_keys_of(const Tensor& packed, const QkvLayout& layout) {
  return device::slice(packed.view(), 3, 0, layout.head_dim);
}
TensorView packed_values_of(const Tensor& packed, const QkvLayout& layout) {
  return device::slice(packed.view(), 3, layout.head_dim, layout.head_dim + layout.value_dim);
}

}  // namespace

Attended empty_attended(Context& context, const Tensor& qkv, const AttentionSettings& settings,
                        DType dtype) {
  const QkvLayout& layout = settings.layout;
  const Index s = qkv.shape()[0], b = qkv.shape()[1];
  return {.o = context.empty({s, b, layout.heads * layout.value_dim}, dtype),
          .lse = context.empty({b, layout.heads, s}, wide_type(qkv.dtype()))};
}

void launch_forward(Context& context, const ConstTensorView& queries, const AttentionKeys& keys,
                    const AttentionSettings& settings, const Attended& to) {
  kernels::AttentionForward kernel;
  set_inputs(kernel, queries, keys, settings);
  kernel.o = heads_of(to.o.view(), settings.layout);
  kernel.lse = to.lse.view();
  launch_in_chunks(context, kernel, settings.chunk);
}

void launch_backward(Context& context, const ConstTensorView& queries, const AttentionKeys& keys,
                     const AttentionSettings& settings, const Attended& whole,
                     const AttentionGradients& gradients) {
  kernels::AttentionBackward kernel;
  set_inputs(kernel, queries, keys, settings);
  kernel.o = heads_of(ConstTensorView(whole.o), settings.layout);
  kernel.lse = whole.lse.view();
  kernel.d_o = heads_of(gradients.d_o, settings.layout);
  kernel.dq = gradients.dq;
  kernel.dk = gradients.dk;
  kernel.dv = gradients.dv;
  kernel.dbias = gradients.dbias;
  launch_in_chunks(context, kernel, settings.chunk);
}

namespace {

/// [s, b, n, dv].
Tensor by_head(const Tensor& o, const QkvLayout& layout) {
  return o.reshape({o.shape()[0], o.shape()[1], layout.heads, layout.value_dim});
}

}  // namespace

void join_sink(Context& context, const AttentionSettings& settings, const Attended& whole) {
  if (settings.sink == AttentionSettings::Sink::none) {
    return;
  }
  kernels::AttentionSinkForward kernel{.o = by_head(whole.o, settings.layout).view(),
                                       .lse = whole.lse.view(),
                                       .sink = {},
                                       .first_head = settings.sink_head};
  if (settings.sink_logits != nullptr) {
    context.use(*settings.sink_logits);
    kernel.sink = settings.sink_logits->value.view();
  }
  context.launch(kernel);
}

void add_sink_gradient(Context& context, const AttentionSettings& settings, const Attended& whole,
                       const Tensor& gradient) {
  if (settings.sink_logits == nullptr) {
    return;
  }
  autograd::Parameter& sink = *settings.sink_logits;
  autograd::accumulate_parameter(
      context, sink, [&](const TensorView& destination, bool accumulate) {
        context.launch(
            kernels::AttentionSinkBackward{.o = by_head(whole.o, settings.layout).view(),
                                           .d_o = by_head(gradient, settings.layout).view(),
                                           .lse = whole.lse.view(),
                                           .sink = sink.value.view(),
                                           .dsink = destination,
                                           .first_head = settings.sink_head,
                                           .accumulate = accumulate});
      });
}

Tensor packed_keys(Context& context, const Tensor& qkv, const QkvLayout& layout) {
  const ConstTensorView both = layout.keys_and_values(ConstTensorView(qkv));
  const Tensor packed = context.empty(both.shape, qkv.dtype());
  context.launch(kernels::Cast{.x = both, .y = packed.view()});
  return packed;
}

AttentionKeys keys_of(const Tensor& packed, const QkvLayout& layout,
                      const kernels::AttentionPositions& positions) {
  return {.k = packed_keys_of(packed, layout),
          .v = packed_values_of(packed, layout),
          .positions = positions};
}

AttentionGradients gradients_of(const Tensor& d_o, const TensorView& dq, const Tensor& packed,
                                const QkvLayout& layout) {
  return {.d_o = d_o,
          .dq = dq,
          .dk = packed_keys_of(packed, layout),
          .dv = packed_values_of(packed, layout)};
}

void unpack_gradients(Context& context, const Tensor& packed, const QkvLayout& layout,
                      const Tensor& dqkv) {
  context.launch(kernels::Cast{.x = packed.view(), .y = layout.keys_and_values(dqkv.view())});
}

}  // namespace mpitron::ops
