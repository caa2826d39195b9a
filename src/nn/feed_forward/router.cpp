#include "nn/feed_forward/router.h"

#include <algorithm>

#include "ops/elementwise/reshape.h"
#include "ops/experts/router_logits.h"
#include "ops/loss/auxiliary_loss.h"

// Routes tokens: logits and choice. An expert's bias changes who is chosen and not the weights of
// the chosen; it follows the counts of a whole step.

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;

namespace {

ops::RoutingRule routing_rule(const config::MoeConfig& config) {
  if (config.sinkhorn) {
    // The reference weighs the experts that sinkhorn chose by their plain scores.
    const auto score = config.topk == 1 ? ops::RouterScore::sigmoid : ops::RouterScore::softmax;
    return {.score = score, .pre_softmax = true};
  }
  return {.score = score_of(config.score),
          .pre_softmax = config.pre_softmax,
          .groups = config.num_groups.value_or(1),
          .group_topk = config.group_topk.value_or(1),
          .scaling = config.topk_scaling_factor.value_or(1)};
}

}  // namespace

ops::RouterScore score_of(config::RouterScore score) {
  switch (score) {
    case config::RouterScore::softmax:
      return ops::RouterScore::softmax;
    case config::RouterScore::sigmoid:
      return ops::RouterScore::sigmoid;
    case config::RouterScore::sqrt_softplus:
      break;
  }
  return ops::RouterScore::sqrt_softplus;
}

bool has_losses(const Context& context) {
  return context.training() && context.recording();
}

Router::Router(const Builder& builder, Index layer_number)
    : config_(*builder.config().moe),
      shared_(builder.tensor_parallel()),
      sequence_ranks_(builder.groups().tensor_context),
      replicas_(builder.groups().data),
      layer_number_(static_cast<std::uint32_t>(layer_number)),
      dtype_(config_.router_dtype.value_or(builder.config().params_dtype)),
      weight_(
          &builder.replicated_weight("weight", config_.num_experts, builder.config().hidden_size)),
      bias_(builder.output_bias("bias", config_.num_experts, builder.config().add_bias_linear)) {
  if (config_.expert_bias) {
    expert_bias_ = &builder.buffer("expert_bias", config_.num_experts);
  }
}

autograd::RngKey Router::key(const Context& context, DropoutSite site) const {
  return {context.seed, context.iteration, layer_number_, static_cast<std::uint32_t>(site)};
}

/// W x + b in the router's type; noise and random logits are drawn by global token, so that no
/// layout changes them.
Var Router::logits(Context& context, const Var& x) const {
  const Index s = x.shape()[0], b = x.shape()[1];
  const auto noise = [&](DropoutSite site) {
    return ops::token_noise(context, shared_, s, b, key(context, site));
  };
  Var rows = ops::reshape(context, x, {s * b, x.shape()[2]});
  if (const double eps = config_.input_jitter_eps.value_or(0); eps > 0) {
    rows = ops::jitter(context, rows, eps, noise(DropoutSite::router_input));
  }
  const Var logits = ops::router_logits(context, rows, *weight_, bias_, dtype_);
  if (!config_.force_load_balancing) {
    return logits;
  }
  return ops::with_values(
      context, logits,
      ops::random_logits(context, logits.value, noise(DropoutSite::router_logits)));
}

/// Sinkhorn and an expert's bias choose experts, but do not weigh them.
ops::Routing Router::route(Context& context, const Var& logits) const {
  ops::RoutingBias bias;
  if (config_.sinkhorn && context.training()) {
    bias.chosen_by = ops::sinkhorn_scores(context, logits.value);
  }
  if (expert_bias_ != nullptr) {
    bias.expert_bias = expert_bias_->value;
  }
  return ops::top_k_routing(context, logits, config_.topk, routing_rule(config_), bias);
}

/// An expert takes at most capacity_factor times its even share of tokens.
ops::ExpertCapacity Router::capacity(Index tokens) const {
  if (!config_.capacity_factor) {
    return {};
  }
  const Index even = kernels::expert_capacity(tokens * config_.topk, config_.num_experts,
                                              *config_.capacity_factor);
  return {.tokens = std::min(even, tokens),
          .pad = config_.pad_to_capacity,
          .drop = config_.drop_policy == config::TokenDropPolicy::probs
                      ? ops::DropPolicy::lowest_probability
                      : ops::DropPolicy::last_position};
}

ops::ExpertVisits Router::forward(Context& context, const Var& x) const {
  const Var scored = with_z_loss(context, logits(context, x));
  ops::Routing routing = route(context, scored);
  if (has_losses(context)) {
    routing.probabilities = with_balancing(context, routing.probabilities, scored, x.shape()[1]);
  }
  const Index tokens = x.shape()[0] * x.shape()[1];
  ops::ExpertVisits visits =
      ops::expert_visits(context, routing, config_.num_experts, capacity(tokens));
  if (has_losses(context) && context.recorder.auxiliary.sums != nullptr) {
    const std::vector<double> counts(visits.counts.begin(), visits.counts.end());
    context.recorder.auxiliary.sums->add("tokens_per_expert", layer_number_, counts);
  }
  return visits;
}

}  // namespace mpitron::nn
