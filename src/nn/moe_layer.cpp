#include "nn/moe_layer.h"

#include "autograd/recompute.h"
#include "ops/bias_dropout_add.h"
#include "ops/permute.h"
#include "ops/reshape.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Renewable;
using autograd::Var;
using tensor::Tensor;

MoeLayer::MoeLayer(const Builder& builder, Index layer_number)
    : router_(builder.child("router"), layer_number),
      experts_(builder.child("experts")),
      recompute_shared_(builder.config().recomputes(config::RecomputeModule::shared_experts)) {
  if (const Index ffn = builder.config().moe->shared_expert_intermediate_size; ffn > 0) {
    shared_experts_.emplace(builder.child("shared_experts"), ffn);
  }
}

Var MoeLayer::routed(Context& context, const Var& x) const {
  const Index tokens = x.shape()[0] * x.shape()[1], h = x.shape()[2];
  const ops::ExpertVisits visits = router_.forward(context, x);
  const Var input = ops::permute(context, ops::reshape(context, x, {tokens, h}), visits.rows);
  const Var output = experts_.forward(context, input, visits.probabilities, visits.counts);
  return ops::reshape(context, ops::unpermute(context, output, visits.rows, tokens), x.shape());
}

Var MoeLayer::shared(Context& context, const Renewable& x) const {
  const auto output = [this](Context& inner, const Var& input) {
    return shared_experts_->forward(inner, input).output;
  };
  if (!recompute_shared_) {
    return shared_experts_->forward(context, x).output;
  }
  const auto keep = [&x](Context&, const Tensor&) { return autograd::Kept(x); };
  return autograd::recompute(context, output, x.var, keep);
}

BranchOutput MoeLayer::forward(Context& context, const Renewable& x) const {
  const Var output = routed(context, x.var);
  if (!shared_experts_) {
    return {output};
  }
  return {ops::bias_dropout_add(context, shared(context, x), nullptr, output, {})};
}

}  // namespace mpitron::nn
