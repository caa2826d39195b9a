// Scores keys for sparse attention: projections of detached inputs, a norm of the key, positions, a
// Hadamard matrix, and the scores. Ranks that cut a sequence project their rows and share them.
#include "nn/attention/indexer.h"

#include <cmath>

#include "ops/elementwise/reshape.h"
#include "ops/linear/linear.h"
#include "ops/loss/auxiliary_loss.h"
#include "ops/parallel/tensor_parallel_regions.h"
#include "ops/sparse_attention/hadamard.h"
#include "ops/sparse_attention/index_scores.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Recomputable;
using autograd::Var;

namespace {

/// LayerNorm, whatever norm the model has.
ops::NormParameters key_norm(const Builder& builder, const config::IndexerConfig& indexer) {
  const config::ModelConfig& model = builder.config();
  return {.gamma = &builder.norm_weight("k_norm.weight", indexer.head_dim),
          .beta = &builder.norm_bias("k_norm.bias", indexer.head_dim),
          .eps = static_cast<float>(indexer.norm_epsilon.value_or(model.norm_epsilon)),
          .gamma_offset = model.apply_layernorm_1p ? 1.F : 0.F};
}

/// A value that takes no gradient.
Recomputable detached(Recomputable x) {
  x.var.slot = {};
  return x;
}

/// A pass in which nothing is recorded.
Context silent(Context context) {
  context.recorder.tape = context.recorder.usage = nullptr;
  return context;
}

}  // namespace

Indexer::Indexer(const Builder& builder, Index layer_number)
    : shared_(builder.tensor_parallel()),
      config_(*builder.config().indexer),
      number_(layer_number),
      query_weight_(builder.replicated_weight(
          "linear_wq_b.weight", config_.heads * config_.head_dim,
          builder.config().q_lora_rank.value_or(builder.config().hidden_size))),
      key_weight_(builder.replicated_weight("linear_wk.weight", config_.head_dim,
                                            builder.config().hidden_size)),
      key_norm_(key_norm(builder, config_)),
      head_weight_(builder.replicated_weight("linear_weights_proj.weight", config_.heads,
                                             builder.config().hidden_size)) {}

Var Indexer::heads_of(Context& context, const Inputs& inputs) const {
  const Var queries = ops::linear(context, detached(inputs.queries), query_weight_, nullptr);
  const Var key = ops::linear(context, detached(inputs.x), key_weight_, nullptr);
  return ops::join_columns(context, queries, ops::norm(context, key, key_norm_, key.value.dtype()));
}

/// The first numbers of each head have positions. A Hadamard matrix changes no product of a query
/// and a key but by rounding.
Var Indexer::scores(Context& context, const Inputs& inputs,
                    const std::optional<ops::RotaryTables>& rotary) const {
  Var heads = heads_of(context, inputs);
  Var weights = ops::linear(context, detached(inputs.x), head_weight_, nullptr);
  if (shared_.cuts_sequence()) {
    heads = ops::replicate_from_sp(context, std::move(heads), *shared_.group);
    weights = ops::replicate_from_sp(context, std::move(weights), *shared_.group);
  }
  if (rotary) {
    const ops::QkvLayout layout{
        .heads = config_.heads, .query_groups = 1, .head_dim = config_.head_dim, .value_dim = 0};
    ops::RotaryTables tables = *rotary;
    tables.interleaved = config_.rotary_interleaved;
    heads = ops::rotary(context, heads, layout, tables);
  }
  if (config_.hadamard) {
    heads = ops::hadamard(context, heads, config_.head_dim);
  }
  const auto sizes = static_cast<double>(config_.heads * config_.head_dim);
  return ops::index_scores(context, heads, weights, 1 / std::sqrt(sizes));
}

/// Without a weight of the loss nobody trains the indexer, in any pass.
Indexer::Choice Indexer::choose(Context& context, const Inputs& inputs,
                                const std::optional<ops::RotaryTables>& rotary,
                                const tensor::Tensor& mask) const {
  Context untrained = silent(context);
  Context& scoring = config_.loss_coefficient > 0 ? context : untrained;
  Var made = scores(scoring, inputs, rotary);
  const tensor::Tensor hidden = ops::unchosen_keys(context, made.value, mask, config_.topk);
  return {std::move(made), hidden};
}

Var Indexer::with_loss(Context& context, const Var& attended, const Choice& choice,
                       ops::ForetoldAttention attention) const {
  if (config_.loss_coefficient == 0 || !context.training() || !context.recording()) {
    return attended;
  }
  attention.heads = shared_.group;
  if (config_.sparse_loss) {
    attention.mask = choice.hidden;
  }
  const Var loss = ops::indexer_loss(context, choice.scores, attention);
  const autograd::AuxiliaryLosses& auxiliary = context.recorder.auxiliary;
  if (auxiliary.sums != nullptr) {
    auxiliary.sums->add(context.device, "indexer loss", number_, loss.value);
  }
  return ops::with_auxiliary_loss(context, attended, loss,
                                  auxiliary.microbatch_seed * config_.loss_coefficient);
}

}  // namespace mpitron::nn
