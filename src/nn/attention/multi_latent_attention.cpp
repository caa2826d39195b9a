// Builds latent attention from down projections, norms and up projections. Training multiplies the
// latents out; generation keeps them in its cache and multiplies queries and results instead.
#include "nn/attention/multi_latent_attention.h"

#include <cmath>

#include "config/layer_pattern.h"
#include "nn/attention/rotary_embedding.h"
#include "ops/attention/cached_attention.h"
#include "ops/elementwise/reshape.h"
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

/// The reference's place of it among the parameters.
std::optional<Indexer> make_indexer(const Builder& builder, Index number) {
  const config::LayerSpec spec = config::layer_spec(builder.config(), number);
  return spec.mixer == config::MixerKind::sparse_attention
             ? std::optional(Indexer(builder.child("core_attention").child("indexer"), number))
             : std::nullopt;
}

}  // namespace

MultiLatentAttention::MultiLatentAttention(const Builder& builder, Index layer_number)
    : shared_(builder.tensor_parallel()),
      heads_(local_heads(builder.config(), shared_)),
      core_(builder, layer_number, heads_.layout(), scale_of(builder.config())),
      indexer_(make_indexer(builder, layer_number)),
      number_(layer_number),
      rotates_(config::layer_spec(builder.config(), layer_number).rotates),
      recompute_up_projections_(builder.config().recomputes(config::RecomputeModule::mla_up_proj)) {
  make_projections(builder);
  make_updates(builder);
}

void MultiLatentAttention::make_updates(const Builder& builder) {
  const config::ModelConfig& config = builder.config();
  const Index h = config.hidden_size, n = config.num_attention_heads;
  const Index queries = heads_.plain + heads_.rotary, both = heads_.plain + heads_.value;
  const auto of_heads = [&](DropoutSite site, Index in, const char* name, Index width) {
    return LowRankUpdates::of_columns(builder, {site, in},
                                      {{name, n * width, {.width = heads_.heads * width}}});
  };
  if (config.q_lora_rank) {
    q_down_updates_ = LowRankUpdates::of_whole(builder, {DropoutSite::low_rank_qkv, h}, "q_a_proj",
                                               *config.q_lora_rank);
    q_up_updates_ = of_heads(DropoutSite::low_rank_q_up, *config.q_lora_rank, "q_b_proj", queries);
  } else {
    q_up_updates_ = of_heads(DropoutSite::low_rank_q_up, h, "q_proj", queries);
  }
  kv_down_updates_ =
      LowRankUpdates::of_whole(builder, {DropoutSite::low_rank_qkv, h}, "kv_a_proj_with_mqa",
                               config.kv_lora_rank + heads_.rotary);
  kv_up_updates_ = of_heads(DropoutSite::low_rank_kv_up, config.kv_lora_rank, "kv_b_proj", both);
  proj_updates_ =
      LowRankUpdates::of_rows(builder, {DropoutSite::low_rank_proj, n * heads_.value}, "o_proj", h);
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
  kv_down_ = &builder.replicated_weight("linear_kv_down_proj.weight",
                                        config.kv_lora_rank + heads_.rotary, h);
  kv_up_ = &up_projection(builder, "linear_kv_up_proj.weight", n * (heads_.plain + heads_.value),
                          config.kv_lora_rank);
  if (config.qk_layernorm) {
    if (config.q_lora_rank) {
      q_norm_.emplace(builder, "q_layernorm", *config.q_lora_rank);
    }
    kv_norm_.emplace(builder, "kv_layernorm", config.kv_lora_rank);
  }
}

/// Every tensor parallel rank makes the same of its rows.
MultiLatentAttention::Latents MultiLatentAttention::latents(Context& context,
                                                            const Recomputable& x) const {
  Recomputable q = x;
  if (q_down_ != nullptr) {
    const Var latent = q_down_updates_.add(context, x, ops::linear(context, x, *q_down_, nullptr));
    q = q_norm_ ? q_norm_->forward(context, latent) : latent;
  }
  Var down = kv_down_updates_.add(context, x, ops::linear(context, x, *kv_down_, nullptr));
  auto [kv, k_rope] = ops::split_columns(context, down, kv_up_->shape[1]);
  return {std::move(q), kv_norm_ ? kv_norm_->forward(context, kv) : kv, k_rope};
}

/// Each rank's heads; the rotary part of the keys is one for all heads, and its gradient a sum over
/// ranks.
Var MultiLatentAttention::up_projected(Context& context, const Latents& latents,
                                       const std::optional<ops::RotaryTables>& rotary) const {
  Var q = ops::column_parallel_linear(context, latents.q, *q_up_, nullptr, shared_);
  Var kv = ops::column_parallel_linear(context, latents.kv, *kv_up_, nullptr, shared_);
  ops::LatentProjections up{.q = q_up_updates_.add(context, latents.q, std::move(q)),
                            .kv = kv_up_updates_.add(context, latents.kv, std::move(kv)),
                            .k_rope = latents.k_rope};
  if (shared_.shared()) {
    up.k_rope = shared_.cuts_sequence()
                    ? ops::gather_from_sp(context, latents.k_rope, *shared_.group)
                    : ops::copy_to_tp(context, latents.k_rope, *shared_.group);
  }
  return ops::latent_qkv(context, up, heads_, rotates_ ? rotary : std::nullopt);
}

/// Makes the fused qkv. With --recompute-modules mla_up_proj the latents are kept and qkv is made
/// of them again.
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

/// Latents are what the cache keeps, so nothing is projected up for the positions before.
Var MultiLatentAttention::cached(Context& context, const Latents& latents,
                                 const std::optional<ops::RotaryTables>& rotary) const {
  Var q = ops::column_parallel_linear(context, latents.q, *q_up_, nullptr, shared_);
  const Index columns = heads_.heads * (heads_.plain + heads_.value);
  const ops::CachedLatents rows{
      .q = q_up_updates_.add(context, latents.q, std::move(q)),
      .kv = latents.kv,
      .k_rope = latents.k_rope,
      .up = kv_up_,
      .ranks = &core_.ranks(),
      .updates = kv_up_updates_.adapted(context, columns, latents.kv.value.dtype())};
  return ops::cached_latent_attention(context, rows, heads_, core_.settings(), rotary, number_);
}

Var MultiLatentAttention::attended_sparsely(Context& context, const Indexer::Inputs& indexed,
                                            const Recomputable& qkv,
                                            const LayerInputs& inputs) const {
  const Indexer::Choice choice = indexer_->choose(
      context, indexed, rotates_ ? inputs.rotary : std::nullopt, inputs.attention_mask);
  LayerInputs chosen = inputs;
  chosen.attention_mask = choice.hidden;
  const Var attended = core_.forward(context, qkv, chosen);
  return indexer_->with_loss(context, attended, choice,
                             {.qkv = qkv.var.value,
                              .layout = core_.layout(),
                              .scale = core_.settings().scale,
                              .mask = inputs.attention_mask});
}

BranchOutput MultiLatentAttention::forward(Context& context, const Recomputable& x,
                                           const LayerInputs& inputs) const {
  const Latents made = latents(context, x);
  Var attended;
  if (context.cached != nullptr) {
    MPITRON_CHECK(!indexer_, number_);
    attended = cached(context, made, rotates_ ? inputs.rotary : std::nullopt);
  } else {
    const Recomputable qkv = fused_qkv(context, made, inputs.rotary);
    attended = indexer_ ? attended_sparsely(context, {x, made.q}, qkv, inputs)
                        : core_.forward(context, qkv, inputs);
  }
  Var projected = ops::row_parallel_linear(context, attended, *proj_weight_, shared_);
  return {proj_updates_.add(context, attended, std::move(projected)), proj_bias_};
}

}  // namespace mpitron::nn
