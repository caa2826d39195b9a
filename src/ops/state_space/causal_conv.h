#pragma once
#include <vector>

#include "ops/state_space/recurrence.h"

namespace mpitron::ops {

/// The weight [c, 1, w] and bias [c], or null, of a causal convolution, and the rows of them that
/// this rank's channels have.
struct CausalConv {
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;
  std::vector<tensor::Shard::Range> rows;
};

// silu(a depthwise convolution of x [s, b, c] along s that sees no later position and, with starts
// [s, b], no other document).
//
// Numerical contract: kernels/state_space/causal_conv.h.

tensor::Tensor convolved(Context& context, const CausalConv& conv, const tensor::Tensor& x,
                         const tensor::Tensor& starts);
/// dx `=`; adds to the parameters' gradients.
void convolve_backward(Context& context, const CausalConv& conv, const RecurrenceInputs& inputs,
                       const tensor::Tensor& dy, const tensor::Tensor& dx);

}  // namespace mpitron::ops
