#pragma once
#include <variant>

#include "nn/mlp.h"
#include "nn/multi_latent_attention.h"
#include "nn/self_attention.h"

namespace mpitron::nn {

/// A pre-norm layer: x = x + dropout(attention(norm(x)) + bias), then the same with the MLP.
class TransformerLayer {
 public:
  TransformerLayer(const Builder& builder, Index layer_number);

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
  autograd::Var add(autograd::Context& context, const BranchOutput& branch,
                    const autograd::Var& residual, DropoutSite site) const;

  ops::TensorParallel shared_;
  double hidden_dropout_;
  std::uint32_t layer_number_;
  bool recompute_mlp_;
  bool recompute_norms_;
  Norm input_norm_;
  std::variant<SelfAttention, MultiLatentAttention> attention_;
  Norm pre_mlp_norm_;
  Mlp mlp_;
};

}  // namespace mpitron::nn
