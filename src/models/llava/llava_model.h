#pragma once
#include "models/gpt/gpt_model.h"
#include "nn/layers/image_tower.h"

namespace mpitron::models {

/// A GPT whose text may hold images (Liu et al. 2023). The first stage runs the tower and puts what
/// the projector makes of the tiles between the embedded tokens; the layers, the output and the
/// objective are GPT's.
class LlavaModel final : public GptModel {
 public:
  /// Creates the parameters without values; see `initialize`. Those of frozen parts are marked.
  LlavaModel(const config::ModelConfig& config, device::Device& device, Share share);

  Batch batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const override;
  std::span<const std::string_view> batch_fields() const override;
  tensor::Tensor see(autograd::Context& context, std::span<const float> tiles) const override;
  /// [positions, T, h] of the batch's tiles, as the tower ends.
  autograd::Var tower_output(autograd::Context& context, const Batch& batch) const;

 protected:
  autograd::Var embed(autograd::Context& context, const Batch& batch) const override;
  nn::LayerInputs layer_inputs(autograd::Context& context, const Batch& batch,
                               const autograd::Var& stream) const override;

 private:
  /// Takes the positions of a tower's output that are used: without the class token, with pixels
  /// shuffled or pooled, as the configuration says.
  autograd::Var seen(autograd::Context& context, const autograd::Var& tower) const;
  /// [positions, T, h] of the batch's tiles, as the language model sees them.
  autograd::Var projected(autograd::Context& context, const Batch& batch) const;
  /// Rows of the tiles of all ranks that share the sequences.
  autograd::Var images(autograd::Context& context, const Batch& batch) const;
  /// Embeds tokens, some of which stand for rows of images (kSeenChoice).
  autograd::Var embed_cached(autograd::Context& context, const Batch& batch) const;
  void freeze();

  // What the tower's builder refers to: no rotary positions, no pieces of the sequence.
  config::ModelConfig tower_config_, projector_config_;
  comm::ParallelGroups tower_groups_;
  // Of the part with the embedding:
  std::optional<nn::ImageTower> tower_;
  std::optional<nn::ImageProjector> projector_;
};

/// Returns x as a matrix of rows [h].
autograd::Var as_rows(autograd::Context& context, const autograd::Var& x);

}  // namespace mpitron::models
