#pragma once
#include <optional>

#include "autograd/renewable.h"
#include "nn/branch.h"
#include "nn/experts.h"
#include "nn/mlp.h"
#include "nn/router.h"
#include "ops/token_dispatcher.h"

namespace mpitron::nn {

/// A mixture of experts in place of an MLP: each token visits a few experts that a router chooses,
/// and a shared expert where the model has one. What the capacity drops only keeps the latter.
class MoeLayer {
 public:
  /// `layer_number` is global and starts at 1.
  MoeLayer(const Builder& builder, Index layer_number);

  BranchOutput forward(autograd::Context& context, const autograd::Renewable& x) const;

 private:
  /// `meanwhile` runs while the tokens travel.
  autograd::Var routed(autograd::Context& context, const autograd::Var& x,
                       const std::function<void()>& meanwhile) const;
  autograd::Var shared(autograd::Context& context, const autograd::Renewable& x) const;

  Router router_;
  std::shared_ptr<const ops::TokenDispatcher> dispatcher_;
  Experts experts_;
  std::optional<Mlp> shared_experts_;
  bool overlap_shared_;  // runs while the tokens travel
  bool recompute_shared_;
};

}  // namespace mpitron::nn
