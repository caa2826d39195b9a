// Losses that balance experts. The counts of chosen experts are summed over the ranks that share
// the microbatch; they have no gradient, so only scores carry one back.
#include "ops/experts/router_loss.h"

#include "autograd/gradient.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

Tensor counts_of(Context& context, const Tensor& logits, const BalanceRule& rule,
                 const BalanceScope& scope) {
  const Tensor counts = context.empty({scope.sets, logits.shape()[1]}, DType::f64);
  context.launch_with_workspace(kernels::BalanceCounts{
      .logits = logits.view(), .counts = counts.view(), .workspace = {}, .rule = rule});
  if (scope.group != nullptr) {
    scope.group->all_reduce(counts.view()).wait();
  }
  return scope.instead ? scope.instead(counts) : counts;
}

struct BalanceLossBackward {
  Tensor logits, counts;
  Slot slot;
  BalanceRule rule;
  double factor;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dlogits = context.empty(logits.shape(), logits.dtype());
    context.launch(kernels::BalanceLossBackward{.logits = logits.view(),
                                                .counts = counts.view(),
                                                .dloss = gradient.view(),
                                                .dlogits = dlogits.view(),
                                                .rule = rule,
                                                .factor = factor});
    autograd::accumulate(context, slot, dlogits);
  }
};

struct RouterZLossBackward {
  Tensor logits;
  Slot slot;
  double factor;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dlogits = context.empty(logits.shape(), logits.dtype());
    context.launch(kernels::RouterZLossBackward{.logits = logits.view(),
                                                .dloss = gradient.view(),
                                                .dlogits = dlogits.view(),
                                                .factor = factor});
    autograd::accumulate(context, slot, dlogits);
  }
};

}  // namespace

Var balance_loss(Context& context, const Var& logits, const BalanceRule& rule,
                 const BalanceScope& scope) {
  const Index ranks = scope.group != nullptr ? scope.group->size() : 1;
  const auto tokens = static_cast<double>(logits.shape()[0] * ranks / scope.sets);
  const double factor = static_cast<double>(logits.shape()[1]) /
                        (static_cast<double>(rule.topk * scope.sets) * tokens * tokens);
  const Tensor counts = counts_of(context, logits.value, rule, scope);
  Var loss = autograd::variable(context.empty({1}, DType::f64));
  context.launch_with_workspace(kernels::BalanceLoss{.logits = logits.value.view(),
                                                     .counts = counts.view(),
                                                     .loss = loss.value.view(),
                                                     .workspace = {},
                                                     .rule = rule,
                                                     .factor = factor});
  if (context.recording()) {
    context.record(loss.slot, BalanceLossBackward{logits.value, counts, logits.slot, rule, factor});
  }
  return loss;
}

Var router_z_loss(Context& context, const Var& logits, Index ranks) {
  const double factor = 1 / static_cast<double>(logits.shape()[0] * ranks);
  Var loss = autograd::variable(context.empty({1}, DType::f64));
  context.launch_with_workspace(kernels::RouterZLoss{
      .logits = logits.value.view(), .loss = loss.value.view(), .workspace = {}, .factor = factor});
  if (context.recording()) {
    context.record(loss.slot, RouterZLossBackward{logits.value, logits.slot, factor});
  }
  return loss;
}

}  // namespace mpitron::ops
