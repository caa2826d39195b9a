#pragma once
#include "models/model.h"
#include "nn/transformer_block.h"

namespace mpitron::models {

/// A decoder-only language model (GPT, Llama).
class GptModel final : public Model {
 public:
  /// Creates the parameters (in the reference's order) without values; see `initialize`.
  GptModel(const config::ModelConfig& config, device::Device& device, Share share);
  /// The whole model on this rank.
  GptModel(const config::ModelConfig& config, device::Device& device);

  autograd::Var hidden(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  autograd::Var logits(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  std::vector<Objective> objectives(autograd::Context& context, const Batch& batch,
                                    const autograd::Var& input = {}) const override;
  /// The loss of every token, [s, b], fp32.
  autograd::Var loss(autograd::Context& context, const Batch& batch,
                     const autograd::Var& input = {}) const;

 private:
  /// [s, b, v_local]: this rank's columns.
  autograd::Var local_logits(autograd::Context& context, const Batch& batch,
                             const autograd::Var& input) const;

  nn::TransformerBlock decoder_;
  ops::RotaryTables rotary_;
};

}  // namespace mpitron::models
