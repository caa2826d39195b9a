#include <algorithm>

#include "nn/feed_forward/router.h"
#include "ops/elementwise/reshape.h"
#include "ops/experts/router_logits.h"
#include "ops/loss/auxiliary_loss.h"
#include "tensor/host_copy.h"

// Losses that keep experts evenly used, and the counts that they are computed from.

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;
using tensor::Tensor;

namespace {

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

void tell(Context& context, const char* name, Index layer, const Var& loss) {
  if (context.recorder.auxiliary.sums != nullptr) {
    context.recorder.auxiliary.sums->add(context.device, name, layer, loss.value);
  }
}

}  // namespace

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

}  // namespace mpitron::nn
