// Computes the sums and seeds of objectives. Sums are fp64 over tokens in order, and ranks add
// theirs in rank order.
#include "models/base/objective.h"

namespace mpitron::models {

tensor::Tensor Objective::sums(autograd::Context& context) const {
  return ops::sum_tokens(context, losses.value, mask);
}

tensor::Tensor Objective::seed(autograd::Context& context, double factor) const {
  return ops::token_seed(context, mask, factor);
}

}  // namespace mpitron::models
