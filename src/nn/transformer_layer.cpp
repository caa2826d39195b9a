#include "nn/transformer_layer.h"

#include <algorithm>

#include "autograd/recompute.h"
#include "ops/bias_dropout_add.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;

TransformerLayer::TransformerLayer(const Builder& builder, Index layer_number)
    : shared_(builder.tensor_parallel()),
      hidden_dropout_(builder.config().hidden_dropout),
      layer_number_(static_cast<std::uint32_t>(layer_number)),
      recompute_mlp_(
          std::ranges::count(builder.config().recompute_modules, config::RecomputeModule::mlp) > 0),
      input_norm_(builder, "input_layernorm", builder.config().hidden_size),
      attention_(builder.child("self_attention"), layer_number),
      pre_mlp_norm_(builder, "pre_mlp_layernorm", builder.config().hidden_size),
      mlp_(builder.child("mlp")) {}

Var TransformerLayer::add(Context& context, const BranchOutput& branch, const Var& residual,
                          DropoutSite site) const {
  const auto mask =
      ops::dropout_mask(context, hidden_dropout_, layer_number_, static_cast<std::uint32_t>(site));
  return ops::bias_dropout_add(context, branch.output, branch.bias, residual,
                               ops::local_mask(mask, shared_, residual.shape()[0]));
}

Var TransformerLayer::forward(Context& context, const Var& x, const LayerInputs& inputs) const {
  const Var attended =
      add(context, attention_.forward(context, input_norm_.forward(context, x), inputs), x,
          DropoutSite::attention_output);
  const Var normed = pre_mlp_norm_.forward(context, attended);
  const auto mlp = [this](Context& inner, const Var& input) {
    return mlp_.forward(inner, input).output;
  };
  const BranchOutput branch{
      recompute_mlp_ ? autograd::recompute(context, mlp, normed) : mlp(context, normed),
      mlp_.output_bias()};
  return add(context, branch, attended, DropoutSite::mlp_output);
}

}  // namespace mpitron::nn
