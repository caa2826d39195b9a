#pragma once
#include "autograd/recomputable.h"
#include "nn/base/branch.h"
#include "nn/base/layer_inputs.h"

namespace mpitron::nn {

/// The half of a layer that mixes positions: attention, a state space, a delta net.
class Mixer {
 public:
  virtual ~Mixer() = default;
  /// x [s, b, h], normed; [s, b, h] out. Every tensor parallel rank holds its share of the heads;
  /// with sequence parallelism s is this rank's piece.
  virtual BranchOutput forward(autograd::Context& context, const autograd::Recomputable& x,
                               const LayerInputs& inputs) const = 0;
};

/// The half of a layer that works on each position alone: an MLP, experts.
class FeedForward {
 public:
  virtual ~FeedForward() = default;
  /// x [s, b, h], normed; [s, b, h] out.
  virtual BranchOutput forward(autograd::Context& context,
                               const autograd::Recomputable& x) const = 0;
  /// The bias that `forward` leaves to the residual addition; null: none.
  virtual autograd::Parameter* output_bias() const { return nullptr; }
};

}  // namespace mpitron::nn
