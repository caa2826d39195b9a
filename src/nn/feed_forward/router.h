#pragma once
#include <optional>

#include "nn/base/branch.h"
#include "nn/base/builder.h"
#include "ops/experts/expert_visits.h"
#include "ops/experts/router_loss.h"

namespace mpitron::nn {

/// Chooses the experts of every token by scores, keeps them evenly used, and drops what is beyond
/// their capacity (Shazeer et al. 2017; Fedus et al. 2022).
class Router {
 public:
  /// `layer_number` is global and starts at 1.
  Router(const Builder& builder, Index layer_number);

  /// x: [s, b, h], or this rank's piece of s. Probabilities are differentiable; the layer's own
  /// losses and the tokens of each expert are told to the context.
  ops::ExpertVisits forward(autograd::Context& context, const autograd::Var& x) const;

 private:
  /// [t, E].
  autograd::Var logits(autograd::Context& context, const autograd::Var& x) const;
  ops::Routing route(autograd::Context& context, const autograd::Var& logits) const;
  autograd::Var with_z_loss(autograd::Context& context, const autograd::Var& logits) const;
  /// The probabilities, from which the balancing losses get their gradients.
  autograd::Var with_balancing(autograd::Context& context, const autograd::Var& probabilities,
                               const autograd::Var& logits, Index samples) const;
  /// Mean of the counts over data parallel ranks and the step's microbatches so far.
  tensor::Tensor counts_so_far(autograd::Context& context, const tensor::Tensor& counts) const;
  ops::ExpertCapacity capacity(Index tokens) const;
  autograd::RngKey key(const autograd::Context& context, DropoutSite site) const;

  const config::MoeConfig& config_;
  ops::TensorParallel shared_;
  comm::GroupHandle sequence_ranks_;  // who hold the other tokens of the samples
  comm::GroupHandle replicas_;        // who hold other samples
  std::uint32_t layer_number_;
  DType dtype_;  // of the logits
  Parameter* weight_;
  Parameter* bias_;  // null: of logits
  autograd::Buffer* expert_bias_ = nullptr;
};

/// Returns the score of ops that a configuration names.
ops::RouterScore score_of(config::RouterScore score);

/// Losses are told of and take part where gradients are recorded: once for each microbatch, also
/// where the layer is recomputed.
bool has_losses(const autograd::Context& context);

}  // namespace mpitron::nn
