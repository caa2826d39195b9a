#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

/// Groups of rows of a matrix, all of one size, that have no row in common.
struct PooledRows {
  tensor::Tensor rows;  // [k, n], int64: the k rows of each of n groups
  tensor::Tensor from;  // [r], int64: the group of each row; -1: none
};

/// y [n, h]: the mean of each group's rows of x [r, h].
///
/// Numerical contract: sums in fp32 in the order of the groups' rows (kernels::BiasGradient), times
/// 1 / k, rounded once; the gradient of a row is its group's times 1 / k, rounded once.
autograd::Var mean_rows(autograd::Context& context, const autograd::Var& x,
                        const PooledRows& groups);

}  // namespace mpitron::ops
