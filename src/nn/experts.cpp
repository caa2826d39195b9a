#include "nn/experts.h"

#include "nn/mlp.h"
#include "ops/grouped_linear.h"
#include "ops/permute.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Renewable;
using autograd::Var;

Experts::Experts(const Builder& builder)
    : activation_(activation_settings(builder.config())),
      weighs_input_(builder.config().moe->apply_probs_on_input),
      recompute_activation_(builder.config().recomputes(config::RecomputeModule::moe_act)) {
  const config::MoeConfig& config = *builder.config().moe;
  const Index h = builder.config().hidden_size, ffn = config.ffn_hidden_size;
  const Index halves = activation_.gated ? 2 : 1;
  const comm::Group& ranks = *builder.groups().expert;
  const Index here = config.num_experts / ranks.size();
  for (Index expert = ranks.rank() * here; expert < (ranks.rank() + 1) * here; ++expert) {
    const Builder one = builder.child("local_experts." + std::to_string(expert));
    fc1_weights_.push_back(&one.expert_weight("linear_fc1.weight", halves * ffn, h, halves));
    fc2_weights_.push_back(&one.expert_output_weight("linear_fc2.weight", h, ffn));
  }
}

/// What the activation makes of x, weighed where the tokens are not; neither is kept where it is
/// recomputed.
Renewable Experts::activated(Context& context, const Var& x, const Var& probabilities) const {
  const bool again = recompute_activation_ && context.recording();
  Renewable y = ops::activation(context, x, nullptr, activation_);
  if (again) {
    y = {y.var, [settings = activation_, input = x.value](Context& later) {
           return ops::activation(later, autograd::constant(input), nullptr, settings).value;
         }};
  }
  if (weighs_input_) {
    return y;
  }
  Renewable weighed = ops::scale_rows(context, y, probabilities);
  if (again) {
    weighed = {weighed.var, [recipe = y.recipe, factors = probabilities.value](Context& later) {
                 return ops::scaled_rows(later, (*recipe)(later), factors);
               }};
  }
  return weighed;
}

Var Experts::forward(Context& context, const Var& tokens, const Var& probabilities,
                     const std::vector<Index>& counts) const {
  const Var input = weighs_input_ ? ops::scale_rows(context, tokens, probabilities) : tokens;
  const Var hidden = ops::grouped_linear(context, input, fc1_weights_, counts);
  return ops::grouped_linear(context, activated(context, hidden, probabilities), fc2_weights_,
                             counts);
}

}  // namespace mpitron::nn
