#pragma once
#include <deque>
#include <functional>
#include <optional>

#include "autograd/recompute.h"
#include "config/recompute_config.h"
#include "nn/base/model_part.h"
#include "nn/layers/transformer_layer.h"
#include "ops/parallel/keep_piece.h"

namespace mpitron::nn {

/// The layers of an encoder or decoder that a part holds, and its final norm where the part has the
/// output; with full recomputation by `--recompute-method` where asked.
class TransformerBlock {
 public:
  /// `layers_before`: of the model, in front of the block's first one; its layers' numbers go on.
  TransformerBlock(const Builder& builder, const ModelPart& part, Index layers_before = 0);
  /// Builds layers that are all alike, whatever the model's own are: a tower beside a decoder.
  TransformerBlock(const Builder& builder, const ModelPart& part, const config::LayerSpec& spec,
                   Index layers_before);

  autograd::Var forward(autograd::Context& context, autograd::Var x,
                        const LayerInputs& inputs) const;
  /// Has all layers keep what their cross attention looks at of an encoder's output, in the
  /// encoder's pass.
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

/// block(context, x), computed again in the backward pass. With `--distribute-saved-activations`
/// each tensor parallel rank keeps its piece of x.
template <class Block>
autograd::Var recomputed(autograd::Context& context, const config::RecomputeConfig& config,
                         const ops::TensorParallel& shared, const Block& block,
                         const autograd::Var& x) {
  const bool spread = config.distribute_saved_activations && !shared.cuts_sequence();
  return spread ? autograd::recompute(context, block, x, ops::KeepPiece{shared})
                : autograd::recompute(context, block, x);
}

}  // namespace mpitron::nn
