#pragma once
#include "nn/base/builder.h"
#include "nn/base/layer_parts.h"
#include "nn/base/low_rank_updates.h"
#include "ops/state_space/recurrent_mixer.h"

namespace mpitron::nn {

/// Takes the place of attention where a state is carried from token to token: a projection, a
/// causal convolution with a recurrence and a gated norm behind it, and a projection. Heads are
/// shared over a tensor parallel group, which meets in the projections only, and between them over
/// a context parallel one, whose members exchange sequences for heads.
class RecurrentLayer : public Mixer {
 public:
  BranchOutput forward(autograd::Context& context, const autograd::Recomputable& x,
                       const LayerInputs& inputs) const final;

 protected:
  /// The kinds below make the parameters and say in `core_` where in the projection what lies.
  explicit RecurrentLayer(const Builder& builder) : shared_(builder.tensor_parallel()) {}

  ops::TensorParallel shared_;
  Parameter* in_proj_ = nullptr;   // [everything that the core reads, h]
  ops::RecurrentMixer core_;       // widths of this rank's share
  Parameter* out_proj_ = nullptr;  // [h, values of all heads]
  LowRankUpdates in_updates_, out_updates_;
};

/// Positions that the convolution of Mamba sees; the reference has no option for it.
inline constexpr Index kMambaConvWidth = 4;

/// The mixer of Mamba-2 (Dao and Gu 2024). The projection makes gates, channels (x, B, C) and a
/// step a head; the convolution mixes channels over time; the scan runs h = exp(A dt) h + dt B x,
/// y = C h + D x; each group has a norm of its own.
class MambaMixer final : public RecurrentLayer {
 public:
  /// `layer_number` is global and starts at 1.
  MambaMixer(const Builder& builder, Index layer_number);
};

/// A gated delta net (Yang et al. 2024). The projection makes queries, keys, values, gates and two
/// numbers a head, beta and alpha; the convolution mixes the first three over time; the delta rule
/// reads a state that each token corrects; each head has a norm of its own, with the gate behind
/// it.
class GatedDeltaNet final : public RecurrentLayer {
 public:
  /// `layer_number` is global and starts at 1.
  GatedDeltaNet(const Builder& builder, Index layer_number);
};

}  // namespace mpitron::nn
