#pragma once
#include <optional>

#include "autograd/renewable.h"
#include "nn/branch.h"
#include "nn/core_attention.h"
#include "nn/norm.h"
#include "ops/shared_query_group.h"

namespace mpitron::nn {

/// Multi-head or grouped-query self attention: linear_qkv, norm of queries and keys, rotary
/// positions, softmax attention, linear_proj (Vaswani et al. 2017; Ainslie et al. 2023).
class SelfAttention {
 public:
  /// `layer_number` is global and starts at 1. `causal`: keys behind the query are hidden.
  SelfAttention(const Builder& builder, Index layer_number, bool causal = true);

  BranchOutput forward(autograd::Context& context, const autograd::Renewable& x,
                       const LayerInputs& inputs) const;

 private:
  void make_norms(const Builder& builder);
  autograd::Var normed_queries_and_keys(autograd::Context& context, autograd::Var qkv) const;

  ops::TensorParallel shared_;
  ops::QkvShare share_;
  CoreAttention core_;
  bool rotates_;
  // The reference creates linear_proj before linear_qkv.
  Parameter* proj_weight_;
  Parameter* proj_bias_;
  Parameter* qkv_weight_;
  Parameter* qkv_bias_;
  std::optional<ops::NormParameters> query_norm_, key_norm_;
};

}  // namespace mpitron::nn
