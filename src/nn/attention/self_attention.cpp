// Builds self attention: fused projection, norms of heads, rotary positions, core attention, output
// gate, projection. Ranks of a tensor parallel group have whole query groups, or share one.
#include "nn/attention/self_attention.h"

#include <tuple>

#include "config/layer_pattern.h"
#include "ops/attention/output_gate.h"
#include "ops/attention/qk_norm.h"
#include "ops/linear/parallel_linear.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;

namespace {

ops::QkvShare share_of(const config::ModelConfig& config, const ops::TensorParallel& shared) {
  return ops::qkv_share({config.num_attention_heads, config.num_query_groups, config.kv_channels},
                        shared, config.attention_output_gate);
}

}  // namespace

SelfAttention::SelfAttention(const Builder& builder, Index layer_number, bool causal)
    : shared_(builder.tensor_parallel()),
      share_(share_of(builder.config(), shared_)),
      core_(builder, layer_number, share_.local, builder.config().softmax_scale, causal),
      gated_(builder.config().attention_output_gate),
      rotates_(config::layer_spec(builder.config(), layer_number).rotates),
      windowed_(config::layer_spec(builder.config(), layer_number).window) {
  const config::ModelConfig& config = builder.config();
  const Index h = config.hidden_size, projection = config.num_attention_heads * config.kv_channels;
  const Index width =
      projection * (gated_ ? 2 : 1) + 2 * config.num_query_groups * config.kv_channels;
  proj_weight_ = &builder.output_weight("linear_proj.weight", h, projection);
  proj_bias_ = builder.output_bias("linear_proj.bias", h, config.add_bias_linear);
  qkv_weight_ = &builder.linear_weight("linear_qkv.weight", width, h, share_.rows);
  qkv_bias_ = builder.bias("linear_qkv.bias", width, config.add_qkv_bias, share_.rows);
  make_norms(builder);
  make_updates(builder);
}

/// Makes low-rank updates; queries, keys and values of the fused projection each have factors of
/// their own, as in Hugging Face's models; in a query group their rows lie side by side.
void SelfAttention::make_updates(const Builder& builder) {
  const config::ModelConfig& config = builder.config();
  const Index d = config.kv_channels, queries = share_.local.queries_per_group();
  const Index stride = (queries + 2) * d, groups = share_.local.query_groups;
  const Index q = config.num_attention_heads * d, kv = config.num_query_groups * d;
  const auto heads = [&](Index first, Index count) {
    return ops::OutputBlocks{first * d, count * d, stride, groups};
  };
  qkv_updates_ =
      LowRankUpdates::of_columns(builder, {DropoutSite::low_rank_qkv, config.hidden_size},
                                 {{"q_proj", q, heads(0, queries)},
                                  {"k_proj", kv, heads(queries, 1)},
                                  {"v_proj", kv, heads(queries + 1, 1)}});
  proj_updates_ = LowRankUpdates::of_rows(builder, {DropoutSite::low_rank_proj, q}, "o_proj",
                                          config.hidden_size);
}

/// Norms of each head's queries and keys; --qk-l2-norm has no weights.
void SelfAttention::make_norms(const Builder& builder) {
  const config::ModelConfig& config = builder.config();
  if (config.qk_layernorm) {
    query_norm_ = Norm(builder, "q_layernorm", config.kv_channels).parameters();
    key_norm_ = Norm(builder, "k_layernorm", config.kv_channels).parameters();
    // Every rank norms its heads only.
    for (const ops::NormParameters* norm : {&*query_norm_, &*key_norm_}) {
      norm->gamma->placement.sum_over_tensor = shared_.shared();
      if (norm->beta != nullptr) {
        norm->beta->placement.sum_over_tensor = shared_.shared();
      }
    }
  } else if (config.qk_l2_norm && (rotates_ || !config.qk_l2_norm_with_rope_only)) {
    query_norm_ = key_norm_ =
        ops::NormParameters{.eps = static_cast<float>(config.norm_epsilon), .rms = true};
  }
}

Var SelfAttention::normed_queries_and_keys(Context& context, Var qkv) const {
  return query_norm_ ? ops::qk_norm(context, qkv, share_.local, *query_norm_, *key_norm_) : qkv;
}

/// Layers with a window may have tables of their own; those that do not rotate may scale queries.
Var SelfAttention::positioned(Context& context, Var qkv, const LayerInputs& inputs) const {
  if (!rotates_ && inputs.query_factors) {
    return ops::scaled_queries(context, qkv, share_.local, inputs.query_factors);
  }
  const auto& tables = windowed_ && inputs.window_rotary ? inputs.window_rotary : inputs.rotary;
  return tables && rotates_ ? ops::rotary(context, qkv, share_.local, *tables) : qkv;
}

/// linear_qkv, norms, rotary positions, attention, gate, linear_proj, in this order.
BranchOutput SelfAttention::forward(Context& context, const autograd::Recomputable& x,
                                    const LayerInputs& inputs) const {
  Var qkv = ops::column_parallel_linear(context, x, *qkv_weight_, qkv_bias_, shared_);
  qkv = qkv_updates_.add(context, x, std::move(qkv));
  Var gate;
  if (gated_) {
    std::tie(qkv, gate) = ops::split_gate(context, qkv, share_.local.query_groups,
                                          share_.local.queries_per_group() * share_.local.head_dim);
  }
  qkv = normed_queries_and_keys(context, ops::join_keys_values(context, qkv, share_, shared_));
  Var attended = core_.forward(context, positioned(context, std::move(qkv), inputs), inputs);
  if (gated_) {
    attended = ops::output_gate(context, attended, gate);
  }
  Var projected = ops::row_parallel_linear(context, attended, *proj_weight_, shared_);
  return {proj_updates_.add(context, attended, std::move(projected)), proj_bias_};
}

}  // namespace mpitron::nn
