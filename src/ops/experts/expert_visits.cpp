// Chooses experts, counts and orders their visits. Probabilities are the only output with a
// gradient; indices are integers that permutations use.
#include "ops/experts/expert_visits.h"

#include <numeric>
#include <utility>

#include "autograd/gradient.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/reshape.h"
#include "ops/experts/permute.h"
#include "tensor/host_copy.h"

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

ExpertVisits expert_visits(Context& context, const Routing& routing, Index num_experts,
                           const ExpertCapacity& capacity) {
  const Tensor counts = context.empty({num_experts}, DType::i64);
  context.launch(kernels::CountVisits{.experts = routing.experts.view(), .counts = counts.view()});
  ExpertVisits visits;
  if (capacity.fixed()) {  // without waiting for the device
    visits.counts.assign(static_cast<std::size_t>(num_experts), capacity.tokens);
  } else {
    const Tensor known = tensor::to_host(context.device, counts);
    for (Index expert = 0; expert < num_experts; ++expert) {
      visits.counts.push_back(capacity.of(known.data<std::int64_t>()[expert]));
    }
  }
  const Index n = std::accumulate(visits.counts.begin(), visits.counts.end(), Index{0});
  visits.rows = context.empty({n}, DType::i64);
  const Tensor slots = context.empty({n}, DType::i64);
  context.launch_with_workspace(
      kernels::OrderVisits{.experts = routing.experts.view(),
                           .probabilities = routing.probabilities.value.view(),
                           .counts = counts.view(),
                           .rows = visits.rows.view(),
                           .slots = slots.view(),
                           .workspace = {},
                           .capacity = capacity});
  const Var flat = reshape(context, cast(context, routing.probabilities, DType::f32),
                           {routing.experts.numel(), 1});
  visits.probabilities = reshape(context, permute(context, flat, slots), {n});
  return visits;
}

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
    context.record(routing.probabilities.slot,
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
    context.record(result.slot, [slot = x.slot](Context& inner, Tensor gradient) {
      autograd::accumulate(inner, slot, std::move(gradient));
    });
  }
  return result;
}

}  // namespace mpitron::ops
