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
/// The same of the rows [t, 1, c] of the context's cached pass, all channels, each piece behind
/// what layer `number` (from 1) keeps of the inputs before it
/// (kernels/state_space/cached_recurrence.h).
tensor::Tensor convolved_cached(Context& context, const CausalConv& conv, const tensor::Tensor& x,
                                Index number);
/// dx `=`; adds to the parameters' gradients.
void convolve_backward(Context& context, const CausalConv& conv, const RecurrenceInputs& inputs,
                       const tensor::Tensor& dy, const tensor::Tensor& dx);

}  // namespace mpitron::ops
