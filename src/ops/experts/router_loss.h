#pragma once
#include <functional>

#include "autograd/context.h"
#include "comm/groups/group.h"
#include "kernels/experts/router_loss.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;
using kernels::BalanceRule;

// Losses of routers. Each is this rank's part of a mean over the tokens of a microbatch that the
// ranks of a group hold together, the same number each: the parts add up to the loss, and their
// gradients to its gradient. fp64 [1].
//
// Numerical contract: kernels/experts/router_loss.h.

/// Tokens that a balancing loss balances together.
struct BalanceScope {
  Index sets = 1;                // row r of the logits belongs to set r % sets
  comm::Group* group = nullptr;  // who holds the other tokens of the sets; null: nobody
  /// The counts [sets, E], fp64, to use in place of those given; absent: these.
  std::function<tensor::Tensor(const tensor::Tensor& counts)> instead = {};
};

/// The mean over the sets of E / (topk T^2) sum over e of counts_e scores_e, where T is the set's
/// tokens, scores_e the sum of their scores of expert e, and counts_e how many of them have e among
/// their topk best (Fedus et al. 2022): 1 where experts are used evenly. logits [t, E].
Var balance_loss(Context& context, const Var& logits, const BalanceRule& rule,
                 const BalanceScope& scope);

/// The mean of (ln sum e^logit)^2 (Zoph et al. 2022). `ranks` hold t tokens each.
Var router_z_loss(Context& context, const Var& logits, Index ranks);

}  // namespace mpitron::ops
