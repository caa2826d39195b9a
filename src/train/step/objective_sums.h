#pragma once
#include <vector>

#include "models/base/objective.h"
#include "train/step/step_graph.h"

namespace mpitron::train {

/// An objective's masked losses and its mask, summed over tokens; and the means of microbatches (0
/// without a token), summed over these.
struct LossSums {
  double loss = 0;
  double tokens = 0;
  double means = 0;
  double microbatches = 0;
};

/// Output of a chunk for a microbatch, and its gradient where that is known: that of losses.
struct PassOutput {
  autograd::Slot slot;
  tensor::Tensor gradient;
};

/// Adds up the objectives of a step's microbatches, as numbers of the device.
class ObjectiveSums {
 public:
  /// `objectives`: how many the model has. `per_token_loss`: gradients are of a token's loss, else
  /// of a microbatch's mean.
  ObjectiveSums(std::size_t objectives, bool per_token_loss)
      : objectives_(objectives), per_token_loss_(per_token_loss) {}

  /// Begins a step.
  void begin() { sums_.assign(objectives_, {}); }
  /// The objectives of one microbatch. Where the context records, each with its gradient: the mask
  /// times `seed_scale`, divided by what the reference's objective divides by.
  std::vector<PassOutput> add(autograd::Context& context, std::vector<models::Objective> objectives,
                              double seed_scale);
  StepGraph::TokenSums take() { return std::exchange(sums_, {}); }

 private:
  std::size_t objectives_;
  bool per_token_loss_;
  StepGraph::TokenSums sums_;
};

/// One for each objective, once the device knows them.
std::vector<LossSums> read_sums(device::Device& device, const StepGraph::TokenSums& sums);

}  // namespace mpitron::train
