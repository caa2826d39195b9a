#pragma once
#include "models/base/model.h"
#include "nn/layers/masked_lm_head.h"
#include "nn/layers/pooled_classifier.h"
#include "nn/layers/transformer_block.h"

namespace mpitron::models {

/// An encoder that fills in masked tokens and, with the binary head, tells whether two parts of a
/// text are in order (Devlin et al. 2019, with norms before the layers). Objectives "lm loss" and
/// "sop loss", each a mean over microbatches.
class BertModel final : public Model {
 public:
  /// Creates the parameters (in the reference's order) without values; see `initialize`.
  BertModel(const config::ModelConfig& config, device::Device& device, Share share);

  Batch batch(const HostMicrobatch& microbatch, const SequenceSlice& slice) const override;
  std::span<const std::string_view> batch_fields() const override;
  autograd::Var hidden(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  autograd::Var logits(autograd::Context& context, const Batch& batch,
                       const autograd::Var& input = {}) const override;
  std::vector<Objective> objectives(autograd::Context& context, const Batch& batch,
                                    const autograd::Var& input = {}) const override;
  std::vector<ObjectiveTraits> objective_traits() const override;

 private:
  Objective sentence_order(autograd::Context& context, const Batch& batch,
                           const autograd::Var& hidden) const;

  nn::TransformerBlock encoder_;
  // Where the part has the output:
  std::optional<nn::MaskedLmHead> lm_head_;
  std::optional<nn::PooledClassifier> binary_head_;
};

}  // namespace mpitron::models
