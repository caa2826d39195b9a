#pragma once
#include <string>

#include "ops/loss/token_losses.h"

namespace mpitron::models {

/// Something that training lowers: the mean of losses over what a mask counts. Losses that want no
/// gradient are only told (accuracy).
struct Objective {
  autograd::Var losses;  // fp32
  tensor::Tensor mask;   // fp32, of the same shape; absent: every loss counts
  double count = 0;      // sum of the mask

  /// Losses under the mask, which must be there, and how many they are (ops::read_sums).
  tensor::Tensor sums(autograd::Context& context) const;
  /// The gradient of the losses where each counts `factor`.
  tensor::Tensor seed(autograd::Context& context, double factor) const;
};

/// How an objective appears in the log.
struct ObjectiveTraits {
  std::string name;
  bool mean_of_means = false;  // of the microbatches; else the mean over the global batch
};

}  // namespace mpitron::models
