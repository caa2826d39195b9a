#pragma once
#include "autograd/context.h"
#include "ops/attention/qkv_layout.h"
#include "ops/parallel/tensor_parallel.h"
#include "tensor/shard.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// How the fused qkv of all heads is cut over the ranks of a tensor parallel group: whole query
/// groups, or, with more ranks than groups, a group's query heads over `sharers` neighbouring
/// ranks, of which each also computes 1 / sharers of the group's key and value.
struct QkvShare {
  QkvLayout local;     // of this rank, key and value whole
  tensor::Shard rows;  // of the weight, [width, h]
  Index sharers = 1;
};
/// `gated`: behind its queries each group has as many rows of gates.
QkvShare qkv_share(const QkvLayout& whole, const TensorParallel& shared, bool gated = false);

/// From a rank's rows of a group's qkv, [s, b, (n_local + 2 / sharers) d], to its query heads with
/// the whole key and value, [s, b, (n_local + 2) d]; x itself with one sharer.
///
/// Numerical contract: backward adds the sharers' gradients of key and value in rank order, in fp32
/// for half types.
Var join_keys_values(Context& context, const Var& x, const QkvShare& share,
                     const TensorParallel& shared);

}  // namespace mpitron::ops
