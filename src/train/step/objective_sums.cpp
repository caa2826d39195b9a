// Collects losses of objectives on the device over a step and reads them once, since reading waits
// for it.
#include "train/step/objective_sums.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"

namespace mpitron::train {

using tensor::Tensor;

/// Sums each objective's losses and mask on the device, and returns the gradients with which the
/// backward pass begins. Nothing is read here: the numbers are added up over microbatches first.
std::vector<PassOutput> ObjectiveSums::add(autograd::Context& context,
                                           std::vector<models::Objective> objectives,
                                           double seed_scale) {
  std::vector<PassOutput> outputs;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    models::Objective& objective = objectives[i];
    if (!objective.mask) {
      objective.mask = context.empty(objective.losses.shape(), DType::f32);
      context.launch(kernels::Fill{.x = objective.mask.view(), .value = 1});
    }
    sums_[i].push_back(objective.sums(context));
    if (context.recording() && objective.losses.slot) {
      const double divisor = per_token_loss_ ? 1.0 : std::max(objective.count, 1.0);
      outputs.push_back({objective.losses.slot, objective.seed(context, seed_scale / divisor)});
    }
  }
  return outputs;
}

/// Waits for the device once an objective: until here nothing of a loss was known to the host.
std::vector<LossSums> read_sums(device::Device& device, const StepGraph::TokenSums& sums) {
  std::vector<LossSums> result;
  for (const std::vector<Tensor>& objective : sums) {
    LossSums& own = result.emplace_back();
    for (const Tensor& microbatch : tensor::to_host(device, objective)) {
      const double loss = microbatch.data<double>()[0], tokens = microbatch.data<double>()[1];
      own.loss += loss;
      own.tokens += tokens;
      own.means += loss / std::max(tokens, 1.0);
      own.microbatches += 1;
    }
  }
  return result;
}

}  // namespace mpitron::train
