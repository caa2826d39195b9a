// Builds a mixture of experts: router, dispatcher, experts, shared expert. With
// --moe-shared-expert-overlap the shared expert computes while tokens travel to their experts.
#include "nn/feed_forward/moe_layer.h"

#include "autograd/recompute.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/bias_dropout_add.h"
#include "ops/elementwise/reshape.h"
#include "ops/experts/permute.h"
#include "ops/experts/router_logits.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Recomputable;
using autograd::Var;
using tensor::Tensor;

namespace {

ops::TokenDispatch dispatch_of(config::TokenDispatcherType type) {
  return type == config::TokenDispatcherType::alltoall ? ops::TokenDispatch::all_to_all
                                                       : ops::TokenDispatch::all_gather;
}

}  // namespace

MoeLayer::MoeLayer(const Builder& builder, Index layer_number)
    : router_(builder.child("router"), layer_number),
      dispatcher_(ops::make_token_dispatcher(dispatch_of(builder.config().moe->dispatcher),
                                             builder.config().moe->num_experts, builder.groups())),
      experts_(builder.child("experts")),
      overlap_shared_(builder.config().moe->shared_expert_overlap),
      recompute_shared_(builder.config().recomputes(config::RecomputeModule::shared_experts)) {
  if (const Index ffn = builder.config().moe->shared_expert_intermediate_size; ffn > 0) {
    const Builder child = builder.child("shared_experts");
    shared_experts_.emplace(child, ffn);
    if (builder.config().moe->shared_expert_gate) {
      shared_gate_ = &child.replicated_weight("gate_weight", 1, builder.config().hidden_size);
    }
  }
}

/// The router chooses, tokens travel to their experts, come back and are summed with their weights.
Var MoeLayer::routed(Context& context, const Var& x,
                     const std::function<void()>& overlapped_work) const {
  const Index tokens = x.shape()[0] * x.shape()[1], h = x.shape()[2];
  const ops::ExpertVisits visits = router_.forward(context, x);
  const ops::ExpertInput input = dispatcher_->dispatch(
      context, ops::reshape(context, x, {tokens, h}), visits, overlapped_work);
  const Var output =
      experts_.forward(context, input.tokens, input.probabilities, input.counts, input.owners);
  return ops::reshape(context, dispatcher_->combine(context, output, input), x.shape());
}

/// sigmoid(w x) y for each token, where the shared expert has a gate.
Var MoeLayer::gated(Context& context, const Var& x, const Var& y) const {
  if (shared_gate_ == nullptr) {
    return y;
  }
  const Index tokens = x.shape()[0] * x.shape()[1], h = x.shape()[2];
  const auto rows = [&](const Var& z) { return ops::reshape(context, z, {tokens, h}); };
  const Var logits = ops::router_logits(context, rows(x), *shared_gate_, nullptr, DType::f32);
  const Var gates = ops::activation(context, logits, nullptr, {ops::Activation::sigmoid});
  const Var weighed = ops::scale_rows(context, rows(y), ops::reshape(context, gates, {tokens}));
  return ops::reshape(context, weighed, y.shape());
}

/// The expert that every token visits, recomputed as a whole where asked.
Var MoeLayer::shared(Context& context, const Recomputable& x) const {
  const auto output = [this](Context& inner, const Var& input) {
    return gated(inner, input, shared_experts_->forward(inner, input).output);
  };
  if (!recompute_shared_) {
    return gated(context, x.var, shared_experts_->forward(context, x).output);
  }
  const auto keep = [&x](Context&, const Tensor&) { return autograd::SavedValue(x); };
  return autograd::recompute(context, output, x.var, keep);
}

/// The shared expert runs while tokens travel (--moe-shared-expert-overlap), else behind them; the
/// sum is the same.
BranchOutput MoeLayer::forward(Context& context, const Recomputable& x) const {
  if (!shared_experts_) {
    return {routed(context, x.var, [] {})};
  }
  Var all_tokens;
  const auto run_shared = [&] { all_tokens = shared(context, x); };
  const Var output = routed(context, x.var, [&] {
    if (overlap_shared_) {
      run_shared();
    }
  });
  if (!overlap_shared_) {
    run_shared();
  }
  return {ops::bias_dropout_add(context, all_tokens, nullptr, output, {})};
}

}  // namespace mpitron::nn
