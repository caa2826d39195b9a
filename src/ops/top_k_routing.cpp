#include "ops/top_k_routing.h"

#include <utility>

#include "autograd/gradient.h"

namespace mpitron::ops {
namespace {

struct TopKRoutingBackward {
  Tensor logits, experts;
  autograd::Slot slot;
  RoutingRule rule;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dlogits = context.empty(logits.shape(), logits.dtype());
    context.launch(kernels::TopKRoutingBackward{.logits = logits.view(),
                                                .experts = experts.view(),
                                                .dprobabilities = gradient.view(),
                                                .dlogits = dlogits.view(),
                                                .rule = rule});
    autograd::accumulate(context, slot, dlogits);
  }
};

device::ConstTensorView view_of(const Tensor& x) {
  return x ? device::ConstTensorView(x.view()) : device::ConstTensorView();
}

}  // namespace

Routing top_k_routing(Context& context, const Var& logits, Index topk, const RoutingRule& rule,
                      const RoutingBias& bias) {
  const Shape shape{logits.shape()[0], topk};
  const Tensor experts = context.empty(shape, DType::i64);
  const Tensor probabilities =
      context.empty(shape, logits.value.dtype() == DType::f64 ? DType::f64 : DType::f32);
  context.launch(kernels::TopKRouting{.logits = logits.value.view(),
                                      .chosen_by = view_of(bias.chosen_by),
                                      .expert_bias = view_of(bias.expert_bias),
                                      .experts = experts.view(),
                                      .probabilities = probabilities.view(),
                                      .rule = rule});
  Routing routing{experts, autograd::variable(probabilities)};
  if (context.recording()) {
    context.tape->record(routing.probabilities.slot,
                         TopKRoutingBackward{logits.value, experts, logits.slot, rule});
  }
  return routing;
}

Tensor sinkhorn_scores(Context& context, const Tensor& logits) {
  const Tensor scores = context.empty(logits.shape(), DType::f32);
  context.launch_with_workspace(
      kernels::Sinkhorn{.logits = logits.view(), .scores = scores.view(), .workspace = {}});
  return scores;
}

Var with_values(Context& context, const Var& x, Tensor values) {
  Var result = autograd::variable(std::move(values));
  if (context.recording()) {
    context.tape->record(result.slot, [slot = x.slot](Context& inner, Tensor gradient) {
      autograd::accumulate(inner, slot, std::move(gradient));
    });
  }
  return result;
}

}  // namespace mpitron::ops
