#pragma once
#include "autograd/context.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// Scores [b, s, s] of the keys at and before each query, by an indexer of n heads of d numbers:
/// factor sum over heads of weight max(0, q . k). `qk`: [s, b, (n + 1) d], the queries of the heads
/// and then the key; `weights`: [s, b, n]. In fp32, for fp64 in fp64.
///
/// Numerical contract: kernels/sparse_attention/index_scores.h.
Var index_scores(Context& context, const Var& qk, const Var& weights, double factor);

/// Marks the keys, [b, s, s] u8, that a query may not look at: all but the `topk` best scored ones
/// of those that `mask`, [b or 1, s or 1, s], leaves; none: all at and before the query. Of equal
/// scores the lower position is chosen.
tensor::Tensor unchosen_keys(Context& context, const tensor::Tensor& scores,
                             const tensor::Tensor& mask, Index topk);

}  // namespace mpitron::ops
