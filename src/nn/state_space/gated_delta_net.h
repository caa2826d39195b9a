#pragma once
#include "nn/base/builder.h"
#include "nn/base/layer_parts.h"
#include "nn/base/low_rank_updates.h"
#include "ops/state_space/recurrent_mixer.h"

namespace mpitron::nn {

/// What stands in place of attention in a gated delta net (Yang et al. 2025): a projection to
/// queries, keys, values, gate, beta and alpha, a causal convolution over the first three, the
/// delta rule, a norm of each head with the gate behind it, and a projection. Heads are shared
/// over a tensor parallel group, and between the projections over a context parallel one.
class GatedDeltaNet final : public Mixer {
 public:
  /// `layer_number` is global and starts at 1.
  GatedDeltaNet(const Builder& builder, Index layer_number);

  BranchOutput forward(autograd::Context& context, const autograd::Recomputable& x,
                       const LayerInputs& inputs) const override;

 private:
  ops::TensorParallel shared_;
  Parameter* in_proj_;
  ops::RecurrentMixer core_;
  Parameter* out_proj_;
  LowRankUpdates in_updates_, out_updates_;
};

}  // namespace mpitron::nn
