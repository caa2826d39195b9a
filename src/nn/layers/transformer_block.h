#pragma once
#include <deque>
#include <functional>
#include <optional>

#include "nn/base/model_part.h"
#include "nn/layers/transformer_layer.h"

namespace mpitron::nn {

/// The layers of an encoder or decoder that a part holds, and its final norm where the part has the
/// output; with full recomputation by `--recompute-method` where asked.
class TransformerBlock {
 public:
  /// `layers_before`: of the model, in front of the block's first one; its layers' numbers go on.
  TransformerBlock(const Builder& builder, const ModelPart& part, Index layers_before = 0);
  /// The same of layers that are all alike, whatever the model's own are: a tower beside a decoder.
  TransformerBlock(const Builder& builder, const ModelPart& part, const config::LayerSpec& spec,
                   Index layers_before);

  autograd::Var forward(autograd::Context& context, autograd::Var x,
                        const LayerInputs& inputs) const;
  /// In a pass of an encoder: all layers keep what their cross attention looks at of its output.
  void keep_encoded(autograd::Context& context, const autograd::Var& encoder_output) const;

 private:
  using SpecOf = std::function<config::LayerSpec(Index number)>;
  TransformerBlock(const Builder& builder, const ModelPart& part, Index layers_before,
                   const SpecOf& spec_of);

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
