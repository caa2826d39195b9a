#pragma once
#include "nn/base/builder.h"
#include "nn/base/layer_parts.h"
#include "nn/base/low_rank_updates.h"
#include "ops/state_space/delta_rule.h"
#include "ops/state_space/gated_norm.h"

namespace mpitron::nn {

/// What stands in place of attention in a gated delta net (Yang et al. 2025): a projection to
/// queries, keys, values, gate, beta and alpha, a causal convolution over the first three, the
/// delta rule, a norm of each head with the gate behind it, and a projection. Heads are shared
/// over a tensor parallel group.
class GatedDeltaNet final : public Mixer {
 public:
  explicit GatedDeltaNet(const Builder& builder);

  BranchOutput forward(autograd::Context& context, const autograd::Recomputable& x,
                       const LayerInputs& inputs) const override;

 private:
  ops::TensorParallel shared_;
  Index conv_width_, gate_width_;  // here: of queries, keys and values; of the gate
  Parameter *in_proj_, *conv_weight_;
  ops::DeltaRuleSettings rule_;
  ops::GatedNormSettings norm_;
  Parameter* out_proj_;
  LowRankUpdates in_updates_, out_updates_;
};

}  // namespace mpitron::nn
