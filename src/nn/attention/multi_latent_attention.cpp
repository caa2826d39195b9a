#include "nn/attention/multi_latent_attention.h"

#include <cmath>

#include "config/layer_pattern.h"
#include "nn/attention/rotary_frequencies.h"
#include "ops/elementwise/columns.h"
#include "ops/linear/parallel_linear.h"
#include "ops/parallel/tensor_parallel_regions.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Recomputable;
using autograd::SavedValue;
using autograd::Var;

namespace {

ops::LatentHeads local_heads(const config::ModelConfig& config, const ops::TensorParallel& shared) {
  return {.heads = config.num_attention_heads / shared.size(),
          .plain = config.qk_head_dim,
          .rotary = config.qk_pos_emb_head_dim,
          .value = config.v_head_dim};
}

/// YaRN's factor on the scores of stretched positions, in both queries and keys (Peng et al. 2023).
double scale_of(const config::ModelConfig& config) {
  const double stretch = yarn_mscale(config.rotary_scaling_factor, config.mscale_all_dim);
  const auto width = static_cast<double>(config.qk_head_dim + config.qk_pos_emb_head_dim);
  return stretch * stretch / std::sqrt(width);
}

Parameter& up_projection(const Builder& builder, const std::string& name, Index out, Index in) {
  return builder.linear_weight(name, out, in, builder.piece(0, out));
}

}  // namespace

MultiLatentAttention::MultiLatentAttention(const Builder& builder, Index layer_number)
    : shared_(builder.tensor_parallel()),
      heads_(local_heads(builder.config(), shared_)),
      core_(builder, layer_number, heads_.layout(), scale_of(builder.config())),
      rotates_(config::layer_spec(builder.config(), layer_number).rotates),
      recompute_up_projections_(builder.config().recomputes(config::RecomputeModule::mla_up_proj)),
      kv_rank_(builder.config().kv_lora_rank) {
  make_projections(builder);
}

/// c_q = W_dq x, q = W_uq norm(c_q); [c_kv, k_rope] = W_dkv x, [k, v] = W_ukv norm(c_kv)
/// (DeepSeek-V2, Liu et al. 2024). Without --q-lora-rank q = W_q x. The down projections lie whole
/// on every tensor parallel rank, the others are cut by heads.
void MultiLatentAttention::make_projections(const Builder& builder) {
  const config::ModelConfig& config = builder.config();
  const Index h = config.hidden_size, n = config.num_attention_heads;
  const Index queries = n * (heads_.plain + heads_.rotary);
  proj_weight_ = &builder.output_weight("linear_proj.weight", h, n * heads_.value);
  proj_bias_ = builder.output_bias("linear_proj.bias", h, config.add_bias_linear);
  if (config.q_lora_rank) {
    q_down_ = &builder.replicated_weight("linear_q_down_proj.weight", *config.q_lora_rank, h);
    q_up_ = &up_projection(builder, "linear_q_up_proj.weight", queries, *config.q_lora_rank);
  } else {
    q_up_ = &up_projection(builder, "linear_q_proj.weight", queries, h);
  }
  kv_down_ = &builder.replicated_weight("linear_kv_down_proj.weight", kv_rank_ + heads_.rotary, h);
  kv_up_ = &up_projection(builder, "linear_kv_up_proj.weight", n * (heads_.plain + heads_.value),
                          kv_rank_);
  if (config.qk_layernorm) {
    if (config.q_lora_rank) {
      q_norm_.emplace(builder, "q_layernorm", *config.q_lora_rank);
    }
    kv_norm_.emplace(builder, "kv_layernorm", kv_rank_);
  }
}

/// Every tensor parallel rank makes the same of its rows.
MultiLatentAttention::Latents MultiLatentAttention::latents(Context& context,
                                                            const Recomputable& x) const {
  Recomputable q = x;
  if (q_down_ != nullptr) {
    const Var latent = ops::linear(context, x, *q_down_, nullptr);
    q = q_norm_ ? q_norm_->forward(context, latent) : latent;
  }
  auto [kv, k_rope] =
      ops::split_columns(context, ops::linear(context, x, *kv_down_, nullptr), kv_rank_);
  return {std::move(q), kv_norm_ ? kv_norm_->forward(context, kv) : kv, k_rope};
}

/// Each rank's heads; the rotary part of the keys is one for all heads, and its gradient a sum over
/// ranks.
Var MultiLatentAttention::up_projected(Context& context, const Latents& latents,
                                       const std::optional<ops::RotaryTables>& rotary) const {
  ops::LatentProjections up{
      .q = ops::column_parallel_linear(context, latents.q, *q_up_, nullptr, shared_),
      .kv = ops::column_parallel_linear(context, latents.kv, *kv_up_, nullptr, shared_),
      .k_rope = latents.k_rope};
  if (shared_.shared()) {
    up.k_rope = shared_.cuts_sequence()
                    ? ops::gather_from_sp(context, latents.k_rope, *shared_.group)
                    : ops::copy_to_tp(context, latents.k_rope, *shared_.group);
  }
  return ops::latent_qkv(context, up, heads_, rotates_ ? rotary : std::nullopt);
}

/// With --recompute-modules mla_up_proj the latents are kept and qkv is made of them again.
Recomputable MultiLatentAttention::fused_qkv(Context& context, const Latents& latents,
                                             const std::optional<ops::RotaryTables>& rotary) const {
  Var qkv = up_projected(context, latents, rotary);
  if (!recompute_up_projections_ || !context.recording()) {
    return qkv;
  }
  return {std::move(qkv), [this, rotary, q = SavedValue(latents.q), kv = latents.kv.value,
                           k_rope = latents.k_rope.value](Context& again) {
            const Latents kept{autograd::constant(q(again)), autograd::constant(kv),
                               autograd::constant(k_rope)};
            return up_projected(again, kept, rotary).value;
          }};
}

BranchOutput MultiLatentAttention::forward(Context& context, const Recomputable& x,
                                           const LayerInputs& inputs) const {
  const Recomputable qkv = fused_qkv(context, latents(context, x), inputs.rotary);
  const Var attended = core_.forward(context, qkv, inputs);
  return {ops::row_parallel_linear(context, attended, *proj_weight_, shared_), proj_bias_};
}

}  // namespace mpitron::nn
