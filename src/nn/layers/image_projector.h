#pragma once
#include "nn/feed_forward/mlp.h"

namespace mpitron::nn {

/// From what a tower makes of an image to the width of the language model: one linear layer, or two
/// with an activation between them (Liu et al. 2023).
class ImageProjector {
 public:
  ImageProjector(const Builder& builder, config::ProjectorKind kind, Index inputs);

  /// [s, b, inputs] -> [s, b, h], the same on every tensor parallel rank.
  autograd::Var forward(autograd::Context& context, const autograd::Var& x) const;

 private:
  ops::TensorParallel shared_;
  ops::ActivationSettings activation_;
  Parameter* weight_;  // affine
  Parameter* bias_;
  Parameter* fc2_weight_ = nullptr;  // mlp
  Parameter* fc2_bias_ = nullptr;
};

}  // namespace mpitron::nn
