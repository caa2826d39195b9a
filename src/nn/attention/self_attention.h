#pragma once
#include <optional>

#include "nn/attention/core_attention.h"
#include "nn/base/layer_parts.h"
#include "nn/base/low_rank_updates.h"
#include "nn/base/norm.h"
#include "ops/attention/shared_query_group.h"

namespace mpitron::nn {

/// Multi-head or grouped-query self attention: linear_qkv, norm of queries and keys, rotary
/// positions, softmax attention, linear_proj (Vaswani et al. 2017; Ainslie et al. 2023).
class SelfAttention final : public Mixer {
 public:
  /// `layer_number` is global and starts at 1. `causal`: keys behind the query are hidden.
  SelfAttention(const Builder& builder, Index layer_number, bool causal = true);

  BranchOutput forward(autograd::Context& context, const autograd::Recomputable& x,
                       const LayerInputs& inputs) const override;

 private:
  void make_norms(const Builder& builder);
  void make_updates(const Builder& builder);
  autograd::Var normed_queries_and_keys(autograd::Context& context, autograd::Var qkv) const;
  autograd::Var positioned(autograd::Context& context, autograd::Var qkv,
                           const LayerInputs& inputs) const;

  ops::TensorParallel shared_;
  ops::QkvShare share_;
  CoreAttention core_;
  bool gated_;  // by rows of linear_qkv
  bool rotates_, windowed_;
  // The reference creates linear_proj before linear_qkv.
  Parameter* proj_weight_;
  Parameter* proj_bias_;
  Parameter* qkv_weight_;
  Parameter* qkv_bias_;
  LowRankUpdates qkv_updates_, proj_updates_;
  std::optional<ops::NormParameters> query_norm_, key_norm_;
};

}  // namespace mpitron::nn
