#pragma once
#include "nn/base/builder.h"
#include "nn/base/layer_parts.h"
#include "nn/base/low_rank_updates.h"
#include "ops/state_space/recurrent_mixer.h"

namespace mpitron::nn {

/// Positions that the convolution sees; the reference has no option for it.
inline constexpr Index kMambaConvWidth = 4;

/// The mixer of Mamba-2 (Dao and Gu 2024): a projection to gate, x, B, C and steps, a causal
/// convolution over x, B and C, the scan, a gated norm of each group, and a projection. Heads and
/// groups are shared over a tensor parallel group, which meets in the projections only, and between
/// them over a context parallel one.
class MambaMixer final : public Mixer {
 public:
  /// `layer_number` is global and starts at 1.
  MambaMixer(const Builder& builder, Index layer_number);

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
