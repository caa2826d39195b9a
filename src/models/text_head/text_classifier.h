#pragma once
#include "models/base/model.h"
#include "nn/layers/pooled_classifier.h"
#include "nn/layers/transformer_block.h"

namespace mpitron::models {

/// Learns what `mpitron finetune` teaches: classes, a score or a choice of texts, read from the
/// first position of an encoder (through a pooler) or from the last token of a decoder. Objective
/// "lm loss", a mean over microbatches, and of classes and choices "accuracy", which is told only.
class TextClassifier final : public Model {
 public:
  /// Creates the parameters without values; see `initialize`.
  TextClassifier(const config::ModelConfig& config, device::Device& device, Share share);

  Batch batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const override;
  std::span<const std::string_view> batch_fields() const override;
  autograd::Var hidden(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  /// [1, samples, classes or choices].
  autograd::Var logits(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  std::vector<Objective> objectives(autograd::Context& context, const Batch& batch,
                                    const autograd::Var& input = {}) const override;
  std::vector<ObjectiveTraits> objective_traits() const override;

 private:
  nn::TransformerBlock layers_;
  std::optional<nn::PooledClassifier> head_;  // where the part has the output
};

}  // namespace mpitron::models
