// Computes an objective's sums over this rank's tokens, in fp64, and the seed of its backward pass;
// the caller adds the sums of other ranks.
#include "models/base/objective.h"

namespace mpitron::models {

tensor::Tensor Objective::sums(autograd::Context& context) const {
  return ops::sum_tokens(context, losses.value, mask);
}

tensor::Tensor Objective::seed(autograd::Context& context, double factor) const {
  return ops::token_seed(context, mask, factor);
}

}  // namespace mpitron::models
