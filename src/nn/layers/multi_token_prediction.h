#pragma once
#include <deque>

#include "nn/layers/transformer_layer.h"

namespace mpitron::nn {

/// A depth of multi-token prediction (DeepSeek-V3, Liu et al. 2024): what the depth before it knows
/// of a position, joined with the embedding of the token one further, through a projection, layers
/// and a norm. It has a transformer layer, or those that the pattern's letters name.
class MultiTokenPrediction {
 public:
  /// `first_number`: of its first layer, as if the depths were layers behind those of the decoder.
  MultiTokenPrediction(const Builder& builder, Index first_number);

  /// `hidden`: normed, of the decoder or of the depth before; `embedded`: of the tokens. [s, b, h].
  autograd::Var forward(autograd::Context& context, const autograd::Var& hidden,
                        const autograd::Var& embedded, const LayerInputs& inputs) const;
  Index number() const { return layers_.front().number(); }

 private:
  autograd::Var projected(autograd::Context& context, const autograd::Var& hidden,
                          const autograd::Var& embedded) const;
  autograd::Var run_layer(autograd::Context& context, const TransformerLayer& layer,
                          const autograd::Var& x, const LayerInputs& inputs) const;

  const config::ModelConfig& config_;
  ops::TensorParallel shared_;
  Norm embedding_norm_;
  Norm hidden_norm_;
  Parameter* projection_;
  std::deque<TransformerLayer> layers_;
  Norm final_norm_;
};

}  // namespace mpitron::nn
