#pragma once
#include <deque>

#include "models/base/model.h"
#include "nn/layers/multi_token_prediction.h"
#include "nn/layers/transformer_block.h"

namespace mpitron::models {

/// A decoder-only language model (GPT, Llama), which may also be trained to predict the tokens
/// after the next one (`--mtp-num-layers`).
class GptModel : public Model {
 public:
  /// Creates the parameters (in the reference's order) without values; see `initialize`.
  GptModel(const config::ModelConfig& config, device::Device& device, Share share);
  /// The whole model on this rank.
  GptModel(const config::ModelConfig& config, device::Device& device);

  Batch batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const override;
  std::span<const std::string_view> batch_fields() const override;
  autograd::Var hidden(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  autograd::Var logits(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  autograd::Var predict(autograd::Context& context, Index depth, const autograd::Var& hidden,
                        const Batch& batch) const override;
  std::vector<Objective> objectives(autograd::Context& context, const Batch& batch,
                                    const autograd::Var& input = {}) const override;
  /// Returns the objectives. Of pairs of answers: their loss, the share that is told apart rightly,
  /// and the margins. With a teacher: what is trained, the label's part of it and the teacher's.
  std::vector<ObjectiveTraits> objective_traits() const override;
  /// The loss of every token, [s, b], fp32. In training its backward pass is also that of the
  /// losses of multi-token prediction, whose values the context's sums get ("mtp loss").
  autograd::Var loss(autograd::Context& context, const Batch& batch,
                     const autograd::Var& input = {}) const;

 protected:
  /// [s, b, h] of the batch's tokens; only where the part has the embedding.
  virtual autograd::Var embed(autograd::Context& context, const Batch& batch) const;
  /// `stream`: activations between the layers.
  virtual nn::LayerInputs layer_inputs(autograd::Context& context, const Batch& batch,
                                       const autograd::Var& stream) const;

 private:
  std::vector<Objective> distilled(autograd::Context& context, const Batch& batch,
                                   const autograd::Var& input) const;
  /// Makes the objectives of pairs from the losses of tokens.
  std::vector<Objective> preferences(autograd::Context& context, const Batch& batch,
                                     const autograd::Var& losses) const;
  /// State of a depth of multi-token prediction, and what it is to say: labels and their mask as
  /// many positions further, 0 behind the end.
  struct Prediction {
    autograd::Var hidden;
    tensor::Tensor labels, mask;
  };

  std::vector<Prediction> predictions(autograd::Context& context, const Batch& batch,
                                      const autograd::Var& hidden) const;
  /// `hidden`, with the losses of the depths beside it.
  autograd::Var with_predictions(autograd::Context& context, const Batch& batch,
                                 const autograd::Var& hidden) const;

  nn::TransformerBlock decoder_;
  std::deque<nn::MultiTokenPrediction> predictions_;
};

}  // namespace mpitron::models
