#pragma once
#include "ops/linear/linear.h"
#include "ops/parallel/tensor_parallel.h"

namespace mpitron::ops {

// Linear layers whose weights are cut over a tensor parallel group (Shoeybi et al. 2019). In a
// group of one both are ops/linear/linear.h.
//
// Numerical contract: products as linear.h; a rank's part is rounded to the activations' type,
// sums over ranks are those of comm/groups/group.h.

/// Rows of weight [out, in] and bias lie here: y[s, b, out_local] = x weight^T + bias. x [s, b, in]
/// is on all ranks, or cut along s (x [s_local, b, in]): then s is gathered here and again in
/// backward, so that only this rank's piece is kept. The sum of x's gradient over the ranks is
/// under way while the weight's gradient is computed.
Var column_parallel_linear(Context& context, const Recomputable& x, Parameter& weight,
                           Parameter* bias, const TensorParallel& shared);

/// Columns of weight [out, in] lie here, x is [s, b, in_local]: y = the sum over the ranks of x
/// weight^T, whole or cut along s. The bias is the caller's: it is added once, after the sum.
Var row_parallel_linear(Context& context, const Var& x, Parameter& weight,
                        const TensorParallel& shared);

/// Turns each rank's summand into what lies between the layers: summed, and cut along s where the
/// sequence is.
Var sum_to_stream(Context& context, Var x, const TensorParallel& shared);

}  // namespace mpitron::ops
