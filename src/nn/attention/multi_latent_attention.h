#pragma once
#include <optional>

#include "nn/attention/core_attention.h"
#include "nn/attention/indexer.h"
#include "nn/base/layer_parts.h"
#include "nn/base/low_rank_updates.h"
#include "nn/base/norm.h"
#include "ops/attention/latent_qkv.h"

namespace mpitron::nn {

/// Latent attention (DeepSeek-V2, Liu et al. 2024): keys and values, and with `--q-lora-rank` the
/// queries, come from narrow latents; positions turn components of their own, which all keys share.
/// With `--qk-layernorm` the latents are normed. Every tensor parallel rank computes the latents
/// and its heads of the up projections. In layers of sparse attention an indexer chooses the keys.
class MultiLatentAttention final : public Mixer {
 public:
  /// `layer_number` is global and starts at 1.
  MultiLatentAttention(const Builder& builder, Index layer_number);

  BranchOutput forward(autograd::Context& context, const autograd::Recomputable& x,
                       const LayerInputs& inputs) const override;

 private:
  /// Latents that heads are made of.
  struct Latents {
    autograd::Recomputable q;  // [s, b, rq], or [s, b, h] where queries are not compressed
    autograd::Var kv;          // [s, b, rkv]
    autograd::Var k_rope;      // [s, b, dr]
  };

  void make_projections(const Builder& builder);
  void make_updates(const Builder& builder);
  Latents latents(autograd::Context& context, const autograd::Recomputable& x) const;
  autograd::Var up_projected(autograd::Context& context, const Latents& latents,
                             const std::optional<ops::RotaryTables>& rotary) const;
  /// Makes the fused qkv, which is not kept where `mla_up_proj` is recomputed.
  autograd::Recomputable fused_qkv(autograd::Context& context, const Latents& latents,
                                   const std::optional<ops::RotaryTables>& rotary) const;
  /// Attends to the keys that the indexer chooses, with its loss.
  autograd::Var attended_sparsely(autograd::Context& context, const Indexer::Inputs& indexed,
                                  const autograd::Recomputable& qkv,
                                  const LayerInputs& inputs) const;
  autograd::Var cached(autograd::Context& context, const Latents& latents,
                       const std::optional<ops::RotaryTables>& rotary) const;

  ops::TensorParallel shared_;
  ops::LatentHeads heads_;
  CoreAttention core_;
  std::optional<Indexer> indexer_;  // of sparse attention
  Index number_;
  bool rotates_;
  bool recompute_up_projections_;
  Parameter* proj_weight_;
  Parameter* proj_bias_;
  Parameter* q_down_ = nullptr;  // null: queries are not compressed
  Parameter* q_up_;
  Parameter* kv_down_;
  Parameter* kv_up_;
  std::optional<Norm> q_norm_, kv_norm_;
  LowRankUpdates q_down_updates_, q_up_updates_, kv_down_updates_, kv_up_updates_, proj_updates_;
};

}  // namespace mpitron::nn
