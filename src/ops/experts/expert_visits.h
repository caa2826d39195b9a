#pragma once
#include "autograd/context.h"
#include "kernels/experts/expert_visits.h"
#include "kernels/experts/router.h"
#include "ops/experts/token_dispatcher.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;
using kernels::RouterScore;
using kernels::RoutingRule;
using tensor::Tensor;

/// Choice of experts: which ones each token visits, and with what probability.
struct Routing {
  Tensor experts;     // [t, k], i64
  Var probabilities;  // [t, k], fp32 (fp64 where the logits are)
};

/// Numbers by which experts are chosen, beside the logits; both may be absent.
struct RoutingBias {
  Tensor chosen_by;    // [t, E], fp32: in place of scores
  Tensor expert_bias;  // [E], fp32: added to sigmoid scores
};

/// The topk experts of the tokens whose logits [t, E] are given. Numerical contract:
/// kernels/experts/router.h.
Routing top_k_routing(Context& context, const Var& logits, Index topk, const RoutingRule& rule,
                      const RoutingBias& bias = {});

/// [t, E], fp32: scores that use all experts evenly; nothing is recorded.
Tensor sinkhorn_scores(Context& context, const Tensor& logits);

/// x with other values, whose gradient passes to x as if it were x.
Var with_values(Context& context, const Var& x, Tensor values);

using kernels::DropPolicy;
using kernels::ExpertCapacity;

/// The visits that a routing among `num_experts` experts makes, within the experts' capacity.
ExpertVisits expert_visits(Context& context, const Routing& routing, Index num_experts,
                           const ExpertCapacity& capacity);

}  // namespace mpitron::ops
