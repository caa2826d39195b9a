// Bounds numbers smoothly, by ops that are there: a factor, a tanh, a factor.
#include "ops/elementwise/soft_capped.h"

#include "ops/elementwise/activation.h"
#include "ops/elementwise/scaled.h"

namespace mpitron::ops {

autograd::Var soft_capped(autograd::Context& context, const autograd::Var& x, double bound) {
  const autograd::Var shares = scaled(context, x, 1 / bound);
  return scaled(context, activation(context, shares, nullptr, {Activation::tanh}), bound);
}

}  // namespace mpitron::ops
