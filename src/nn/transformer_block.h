#pragma once
#include <deque>
#include <optional>

#include "nn/model_part.h"
#include "nn/transformer_layer.h"

namespace mpitron::nn {

/// The layers of an encoder or decoder that a part holds, and its final norm where the part has the
/// output; with full recomputation by `--recompute-method` where asked.
class TransformerBlock {
 public:
  /// `layers_before`: of the model, in front of the block's first one; its layers' numbers go on.
  TransformerBlock(const Builder& builder, const ModelPart& part, AttentionKind kind = {},
                   Index layers_before = 0);

  autograd::Var forward(autograd::Context& context, autograd::Var x,
                        const LayerInputs& inputs) const;

 private:
  autograd::Var run_layers(autograd::Context& context, autograd::Var x, const LayerInputs& inputs,
                           std::size_t first, std::size_t last) const;
  /// How many layers from `first` on are recomputed as one piece; 0: this one keeps its
  /// activations.
  std::size_t recomputed_layers(std::size_t first) const;

  const config::ModelConfig& config_;
  ops::TensorParallel shared_;
  std::deque<TransformerLayer> layers_;
  std::optional<Norm> final_norm_;
};

}  // namespace mpitron::nn
