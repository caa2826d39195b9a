#include "nn/feed_forward/experts.h"

#include <algorithm>

#include "nn/feed_forward/mlp.h"
#include "ops/experts/permute.h"
#include "ops/linear/grouped_linear.h"
#include "ops/linear/linear.h"

// Runs the experts of a rank as two grouped products around an activation. Probabilities weigh the
// activation (as in the reference), or with --moe-apply-probs-on-input the tokens that come in.

namespace mpitron::nn {

using autograd::Context;
using autograd::Recomputable;
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
  std::vector<Builder> experts;
  for (Index expert = ranks.rank() * here; expert < (ranks.rank() + 1) * here; ++expert) {
    const Builder one = builder.child("local_experts." + std::to_string(expert));
    fc1_weights_.push_back(&one.expert_weight("linear_fc1.weight", halves * ffn, h, halves));
    fc2_weights_.push_back(&one.expert_output_weight("linear_fc2.weight", h, ffn));
    if (builder.config().add_bias_linear) {
      fc1_biases_.push_back(&one.expert_bias("linear_fc1.bias", halves * ffn,
                                             one.expert_piece(0, halves * ffn, halves)));
      fc2_biases_.push_back(&one.expert_bias("linear_fc2.bias", h, {}));
    }
    experts.push_back(one);
  }
  fc2_bias_share_ = builder.groups().expert_tensor->rank() == 0 ? 1 : 0;
  make_updates(experts, h, ffn);
}

void Experts::make_updates(const std::vector<Builder>& experts, Index h, Index ffn) {
  const Builder& one = experts.front();
  const Index width = ffn / one.groups().expert_tensor->size();
  const tensor::Shard rows = one.expert_piece(0, ffn), columns = one.expert_piece(1, ffn);
  std::vector<ExpertUpdates::Part> parts;
  if (activation_.gated) {
    parts.push_back({"gate_proj", ffn, {.width = width}, rows});
  }
  parts.push_back({"up_proj", ffn, {.first = activation_.gated ? width : 0, .width = width}, rows});
  fc1_updates_ = ExpertUpdates(experts, h, parts);
  fc2_updates_ = ExpertUpdates(experts, ffn, {{"down_proj", h, {.width = h}, {}, columns}});
}

/// Applies the activation to x, weighed where the tokens are not; neither is kept where it is
/// recomputed.
Recomputable Experts::activated(Context& context, const Var& x, const Var& probabilities) const {
  const bool again = recompute_activation_ && context.recording();
  Recomputable y = ops::activation(context, x, nullptr, activation_);
  if (again) {
    y = {y.var, [settings = activation_, input = x.value](Context& later) {
           return ops::activation(later, autograd::constant(input), nullptr, settings).value;
         }};
  }
  if (weighs_input_) {
    return y;
  }
  Recomputable weighed = ops::scale_rows(context, y, probabilities);
  if (again) {
    weighed = {weighed.var, [recipe = y.recipe, factors = probabilities.value](Context& later) {
                 return ops::scaled_rows(later, (*recipe)(later), factors);
               }};
  }
  return weighed;
}

namespace {

/// The adapter of a number, which rows here or on other ranks have.
autograd::Adapter& adapter_of(const autograd::CachedPass& pass, Index number) {
  for (const autograd::AdaptedRows& rows : pass.adapted) {
    if (rows.adapter->number() == number) {
      return *rows.adapter;
    }
  }
  const auto known = std::ranges::find(pass.known, number, &autograd::Adapter::number);
  MPITRON_CHECK(known != pass.known.end(), number);
  return **known;
}

/// Rows of an expert behind each other that one adapter updates. Tokens of a sequence stay side by
/// side within an expert, so there are few.
std::vector<AdaptedRun> runs_of(Context& context, const tensor::Tensor& owners,
                                const std::vector<Index>& counts) {
  std::vector<AdaptedRun> runs;
  if (!owners) {
    return runs;
  }
  const auto* number = owners.data<std::int64_t>();
  Index first = 0, end = 0;
  for (std::size_t expert = 0; expert < counts.size(); ++expert) {
    for (end += counts[expert]; first < end;) {
      const std::int64_t own = number[first];
      const auto* const last = std::find_if(number + first, number + end,
                                            [own](std::int64_t other) { return other != own; });
      const Index behind = last - number;
      if (own > 0) {
        runs.push_back({expert, {&adapter_of(*context.cached, own), first, behind}});
      }
      first = behind;
    }
  }
  return runs;
}

}  // namespace

/// One product for all experts that lie here: rows are sorted by expert, `counts` says how many
/// each has. What a token is weighed by weighs the biases, too. Where ranks share each expert, what
/// they make is summed, so that the first of them alone adds the outer bias.
Var Experts::forward(Context& context, const Var& tokens, const Var& probabilities,
                     const std::vector<Index>& counts, const tensor::Tensor& owners) const {
  const std::vector<AdaptedRun> runs = runs_of(context, owners, counts);
  const Var input = weighs_input_ ? ops::scale_rows(context, tokens, probabilities) : tokens;
  Var hidden = ops::grouped_linear(context, input, fc1_weights_, counts);
  hidden = fc1_updates_.add(context, input, std::move(hidden), counts);
  fc1_updates_.adapt(context, input, hidden, runs);
  hidden = ops::add_group_biases(context, std::move(hidden), {fc1_biases_, counts}, {});
  const Recomputable inner = activated(context, hidden, probabilities);
  Var output = ops::grouped_linear(context, inner, fc2_weights_, counts);
  output = fc2_updates_.add(context, inner, std::move(output), counts);
  fc2_updates_.adapt(context, inner.var, output, runs);
  return ops::add_group_biases(context, std::move(output), {fc2_biases_, counts},
                               {weighs_input_ ? nullptr : &probabilities, fc2_bias_share_});
}

}  // namespace mpitron::nn
