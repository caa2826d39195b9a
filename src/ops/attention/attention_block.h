#pragma once
#include "kernels/attention/attention.h"
#include "ops/attention/attention.h"

namespace mpitron::ops {

// One attention of some queries to some keys: what the attentions of a whole sequence, on one rank
// or on a group, and those to another sequence are made of.

/// Keys [s_kv, b, g, d], values [s_kv, b, g, dv], and the positions of queries and keys.
struct AttentionKeys {
  device::ConstTensorView k, v;
  std::optional<kernels::AttentionPositions> positions;
};

/// [s, b, n d] or [s, b, n dv] as the kernels want it.
template <class View>
View heads_of(const View& x, const QkvLayout& layout) {
  return device::reshape(x, {x.size(0), x.size(1), layout.query_groups, layout.queries_per_group(),
                             x.size(2) / layout.heads});
}

/// Returns the type in which sums of partial results are kept.
inline DType wide_type(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

/// An output [s, b, n dv] in `dtype`, and lse, both without values.
struct Attended {
  tensor::Tensor o, lse;
};
Attended empty_attended(Context& context, const tensor::Tensor& qkv,
                        const AttentionSettings& settings, DType dtype);

/// `queries`, [s, b, g, n/g, d], on `keys`.
void launch_forward(Context& context, const device::ConstTensorView& queries,
                    const AttentionKeys& keys, const AttentionSettings& settings,
                    const Attended& to);

/// The gradient of the output, [s, b, n dv], and where those of the inputs go: [s, b, g, n/g, d],
/// [s_kv, b, g, d] and [s_kv, b, g, dv]; with a bias [b, n, s + s_kv - 1].
struct AttentionGradients {
  device::ConstTensorView d_o;
  device::TensorView dq, dk, dv;
  device::TensorView dbias = {};
};
/// `whole`: output and lse over all keys of the queries, which these may be a part of.
void launch_backward(Context& context, const device::ConstTensorView& queries,
                     const AttentionKeys& keys, const AttentionSettings& settings,
                     const Attended& whole, const AttentionGradients& gradients);

/// Joins the sink's share behind the forward pass over all keys: `whole` becomes the attention with
/// the sink, where there is one.
void join_sink(Context& context, const AttentionSettings& settings, const Attended& whole);
/// Adds the gradient of a learned sink.
void add_sink_gradient(Context& context, const AttentionSettings& settings, const Attended& whole,
                       const tensor::Tensor& gradient);

/// Gradients of the bias of some samples, on their way to its slot; nothing without a bias.
class BiasGradient {
 public:
  BiasGradient(Context& context, const AttentionSettings& settings, Index samples);
  /// [b, n, distances], for the kernel; absent without a bias.
  device::TensorView view() const;
  /// Adds the samples in their order.
  void accumulate(Context& context) const;

 private:
  const AttentionSettings& settings_;
  tensor::Tensor samples_;  // [b, distances, n], fp32
};

/// Keys and values of `qkv` alone: [s, b, g, d + dv], contiguous.
tensor::Tensor packed_keys(Context& context, const tensor::Tensor& qkv, const QkvLayout& layout);
/// Reads a packed tensor as keys and values at `positions`.
AttentionKeys keys_of(const tensor::Tensor& packed, const QkvLayout& layout,
                      const kernels::AttentionPositions& positions);
/// Makes room for gradients of which those of keys and values are packed.
AttentionGradients gradients_of(const tensor::Tensor& d_o, const device::TensorView& dq,
                                const tensor::Tensor& packed, const QkvLayout& layout);
/// Packed gradients, in qkv's type, into the gradient of qkv.
void unpack_gradients(Context& context, const tensor::Tensor& packed, const QkvLayout& layout,
                      const tensor::Tensor& dqkv);

}  // namespace mpitron::ops
