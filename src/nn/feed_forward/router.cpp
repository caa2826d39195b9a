// Routes tokens: logits, choice, losses that keep experts evenly used. An expert's bias changes who
// is chosen and not the weights of the chosen; it follows the counts of a whole step.
#include "nn/feed_forward/router.h"

#include <algorithm>

#include "ops/elementwise/reshape.h"
#include "ops/experts/router_logits.h"
#include "ops/loss/auxiliary_loss.h"
#include "tensor/host_copy.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;
using tensor::Tensor;

namespace {

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

const char* name_of(config::RouterBalancing kind) {
  switch (kind) {
    case config::RouterBalancing::seq_aux_loss:
      return "seq_load_balancing_loss";
    case config::RouterBalancing::global_aux_loss:
      return "global_load_balancing_loss";
    default:
      return "load_balancing_loss";
  }
}

/// Losses are told of and take part where gradients are recorded: once for each microbatch, also
/// where the layer is recomputed.
bool has_losses(const Context& context) {
  return context.training() && context.recording();
}

void tell(Context& context, const char* name, Index layer, const Var& loss) {
  if (context.recorder.auxiliary.sums != nullptr) {
    context.recorder.auxiliary.sums->add(context.device, name, layer, loss.value);
  }
}

}  // namespace

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

/// mean(logsumexp(logits)^2), which keeps logits small (Zoph et al. 2022).
Var Router::with_z_loss(Context& context, const Var& logits) const {
  if (!has_losses(context) || config_.z_loss_coefficient == 0) {
    return logits;
  }
  const Var loss = ops::router_z_loss(context, logits, sequence_ranks_->size());
  tell(context, "z_loss", layer_number_, loss);
  return ops::with_auxiliary_loss(
      context, logits, loss,
      context.recorder.auxiliary.microbatch_seed * config_.z_loss_coefficient);
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

/// E / (k T^2) sum over experts of (tokens) (sum of scores), of all tokens or sample by sample:
/// least where experts are used alike (Fedus et al. 2022).
Var Router::with_balancing(Context& context, const Var& probabilities, const Var& logits,
                           Index samples) const {
  Var result = probabilities;
  for (const config::BalancingLoss& balancing : config_.balancing_losses) {
    const bool of_samples = balancing.kind == config::RouterBalancing::seq_aux_loss;
    ops::BalanceScope scope{.sets = of_samples ? samples : 1, .group = sequence_ranks_.get()};
    if (balancing.kind == config::RouterBalancing::global_aux_loss) {
      scope.instead = [&](const Tensor& counts) { return counts_so_far(context, counts); };
    }
    const Var loss = ops::balance_loss(
        context, logits, {.score = score_of(config_.score), .topk = config_.topk}, scope);
    tell(context, name_of(balancing.kind), layer_number_, loss);
    result = ops::with_auxiliary_loss(
        context, result, loss, context.recorder.auxiliary.microbatch_seed * balancing.coefficient);
  }
  return result;
}

/// The tokens of experts in the whole step so far and on all replicas, in place of this
/// microbatch's: a loss that balances the global batch.
Tensor Router::counts_so_far(Context& context, const Tensor& counts) const {
  replicas_->all_reduce(counts.view()).wait();
  const Tensor known = tensor::to_host(context.device, counts);
  const std::span<double> numbers(known.data<double>(), static_cast<std::size_t>(known.numel()));
  for (double& number : numbers) {
    number /= static_cast<double>(replicas_->size());
  }
  if (context.recorder.auxiliary.sums != nullptr) {
    std::ranges::copy(
        context.recorder.auxiliary.sums->running_mean("balanced_tokens", layer_number_, numbers),
        numbers.begin());
  }
  return tensor::to_device(context.device, known);
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
