#pragma once
#include <variant>

#include "nn/cross_attention.h"
#include "nn/mlp.h"
#include "nn/moe_layer.h"
#include "nn/multi_latent_attention.h"
#include "nn/self_attention.h"

namespace mpitron::nn {

/// What a layer attends to: a decoder's to what it has read, an encoder's to all; a decoder that
/// has an encoder, to that, too.
struct AttentionKind {
  bool causal = true;
  bool cross_attention = false;
};

/// A pre-norm layer: x = x + dropout(attention(norm(x)) + bias), then the same with cross attention
/// where there is one, and with the MLP or the mixture of experts (config/layer_kind.h).
class TransformerLayer {
 public:
  TransformerLayer(const Builder& builder, Index layer_number, AttentionKind kind = {});

  autograd::Var forward(autograd::Context& context, const autograd::Var& x,
                        const LayerInputs& inputs) const;
  /// 1-based, global.
  Index number() const { return static_cast<Index>(layer_number_); }

 private:
  /// norm(x), not kept where the norms are recomputed.
  autograd::Renewable normed(autograd::Context& context, const Norm& norm,
                             const autograd::Var& x) const;
  BranchOutput attention_branch(autograd::Context& context, const autograd::Renewable& x,
                                const LayerInputs& inputs) const;
  BranchOutput mlp_branch(autograd::Context& context, const autograd::Renewable& x) const;
  Parameter* output_bias() const;  // of the MLP
  autograd::Var add(autograd::Context& context, const BranchOutput& branch,
                    const autograd::Var& residual, DropoutSite site) const;

  ops::TensorParallel shared_;
  double hidden_dropout_;
  std::uint32_t layer_number_;
  bool recompute_norms_;
  Norm input_norm_;
  std::variant<SelfAttention, MultiLatentAttention> attention_;
  std::optional<Norm> pre_cross_attention_norm_;
  std::optional<CrossAttention> cross_attention_;
  Norm pre_mlp_norm_;
  std::variant<Mlp, MoeLayer> mlp_;
  bool recompute_mlp_;
};

}  // namespace mpitron::nn
