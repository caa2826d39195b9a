#pragma once
#include <optional>

#include "nn/base/layer_parts.h"
#include "nn/feed_forward/experts.h"
#include "nn/feed_forward/mlp.h"
#include "nn/feed_forward/router.h"
#include "ops/experts/token_dispatcher.h"

namespace mpitron::nn {

/// A mixture of experts in place of an MLP: each token visits a few experts that a router chooses,
/// and a shared expert where the model has one. What the capacity drops only keeps the latter.
class MoeLayer final : public FeedForward {
 public:
  /// `layer_number` is global and starts at 1.
  MoeLayer(const Builder& builder, Index layer_number);

  BranchOutput forward(autograd::Context& context, const autograd::Recomputable& x) const override;

 private:
  /// `overlapped_work` runs while the tokens travel.
  autograd::Var routed(autograd::Context& context, const autograd::Var& x,
                       const std::function<void()>& overlapped_work) const;
  /// y times the sigmoid of x times the gate's weight, where there is one.
  autograd::Var gated(autograd::Context& context, const autograd::Var& x,
                      const autograd::Var& y) const;
  /// Returns what the shared expert adds to every token, dropped ones included.
  autograd::Var shared(autograd::Context& context, const autograd::Recomputable& x) const;

  Router router_;
  std::shared_ptr<const ops::TokenDispatcher> dispatcher_;
  Experts experts_;
  std::optional<Mlp> shared_experts_;
  Parameter* shared_gate_ = nullptr;  // [1, h]
  bool overlap_shared_;               // runs while the tokens travel
  bool recompute_shared_;
};

}  // namespace mpitron::nn
