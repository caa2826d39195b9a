#pragma once
#include <optional>

#include "autograd/renewable.h"
#include "nn/branch.h"
#include "nn/builder.h"
#include "nn/norm.h"
#include "ops/context_attention.h"
#include "ops/rotary.h"
#include "ops/shared_query_group.h"

namespace mpitron::nn {

/// What all layers of one forward pass share.
struct LayerInputs {
  std::optional<ops::RotaryTables> rotary;  // absent without rotary positions
  // [b or 1, s or 1, s], u8, 1 = hidden; optional. With context parallelism the rows of this rank:
  // all columns.
  tensor::Tensor attention_mask;
  autograd::Var relative_bias = {};  // of self attention's scores, [2 s - 1, 1, n]; optional
  // What layers with cross attention look at: [s_e, b, h], and [b or 1, 1, s_e] as above.
  autograd::Var encoder_output = {};
  tensor::Tensor encoder_mask = {};
};

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
  ops::AttentionSettings settings_;
  ops::ContextExchange exchange_;
  ops::ContextGroups context_groups_;
  double attention_dropout_;
  std::uint32_t layer_number_;
  bool rotates_;
  // The reference creates linear_proj before linear_qkv.
  Parameter* proj_weight_;
  Parameter* proj_bias_;
  Parameter* qkv_weight_;
  Parameter* qkv_bias_;
  std::optional<ops::NormParameters> query_norm_, key_norm_;
};

}  // namespace mpitron::nn
