#pragma once
#include "models/vit/vit_backbone.h"
#include "nn/layers/pooled_classifier.h"

namespace mpitron::models {

/// Classes of images from the first class token, by two layers or by one that starts as zeros (the
/// reference's with --finetune). Objective "loss", and "accuracy", which is told
/// only.
class VitClassifier final : public Model {
 public:
  /// Creates the parameters without values; see `initialize`.
  VitClassifier(const config::ModelConfig& config, device::Device& device, Share share);

  Batch batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const override;
  std::span<const std::string_view> batch_fields() const override;
  autograd::Var hidden(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  /// [1, b, classes].
  autograd::Var logits(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  std::vector<Objective> objectives(autograd::Context& context, const Batch& batch,
                                    const autograd::Var& input = {}) const override;
  std::vector<ObjectiveTraits> objective_traits() const override;

 private:
  VitBackbone backbone_;
  std::optional<nn::PooledClassifier> head_;  // where the part has the output
};

}  // namespace mpitron::models
