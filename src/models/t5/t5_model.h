#pragma once
#include "models/base/model.h"
#include "nn/attention/relative_position_bias.h"
#include "nn/layers/transformer_block.h"

namespace mpitron::models {

/// An encoder and a decoder that looks at its output (Raffel et al. 2020, with Megatron-Core's
/// layers). Layers are counted over both, the encoder's first, so that a pipeline cuts them like
/// those of any model: every stage passes on both streams, [s + d, b, h], the encoder's rows before
/// the decoder's.
class T5Model final : public Model {
 public:
  /// Creates the parameters (in the reference's order) without values; see `initialize`.
  T5Model(const config::ModelConfig& config, device::Device& device, Share share);

  Batch batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const override;
  std::span<const std::string_view> batch_fields() const override;
  Field<std::uint8_t> padding_of_logits() const override;
  autograd::Var hidden(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  autograd::Var logits(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  void encode(autograd::Context& context, const Batch& batch) const override;
  std::vector<Objective> objectives(autograd::Context& context, const Batch& batch,
                                    const autograd::Var& input = {}) const override;

 private:
  /// Activations between the layers, [s, b, h] and [d, b, h].
  struct Streams {
    autograd::Var encoder, decoder;
  };

  std::optional<nn::RelativePositionBias> make_bias(const nn::ModelPart& part,
                                                    const std::string& prefix, Index s,
                                                    bool bidirectional) const;
  Streams start(autograd::Context& context, const Batch& batch, const autograd::Var& input) const;
  /// Runs this part's layers on both streams.
  Streams run(autograd::Context& context, const Batch& batch, const autograd::Var& input) const;
  autograd::Var run_encoder(autograd::Context& context, const Batch& batch,
                            const autograd::Var& stream) const;
  /// Runs the rows of a cached pass.
  autograd::Var run_cached(autograd::Context& context, const Batch& batch) const;
  nn::LayerInputs decoder_inputs(autograd::Context& context, const Batch& batch,
                                 const autograd::Var& stream) const;

  std::optional<nn::RelativePositionBias> encoder_bias_, decoder_bias_;
  nn::TransformerBlock encoder_, decoder_;
};

}  // namespace mpitron::models
