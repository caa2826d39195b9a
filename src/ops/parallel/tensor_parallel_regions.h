#pragma once
#include "autograd/context.h"
#include "comm/groups/group.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

// Differentiable communication among the ranks of a tensor parallel group, in conjugate pairs: the
// backward pass of one is the forward pass of the other (Shoeybi et al. 2019; Korthikanti et al.
// 2022). tp: the last dimension is cut, or each rank has a summand; sp: the first dimension, s, is
// cut. In a group of one each is x itself. Give x away (std::move) where it is not needed: sums
// then need no memory of their own.
//
// Numerical contract: sums as comm/groups/group.h has them; nothing else is rounded.

/// x, which all ranks have, enters a region where each computes a part: backward sums.
Var copy_to_tp(Context& context, Var x, comm::Group& group);
/// The sum of all ranks' x.
Var reduce_from_tp(Context& context, Var x, comm::Group& group);

/// The ranks' pieces of the last dimension joined, [.., h / ranks] -> [.., h]; every rank then
/// computes the same: backward each takes its piece.
Var gather_from_tp(Context& context, Var x, comm::Group& group);

/// The pieces of s joined, [s / ranks, ..] -> [s, ..], for a region where each rank computes a
/// part: backward sums and cuts.
Var gather_from_sp(Context& context, Var x, comm::Group& group);
/// This rank's piece of s of the sum of all ranks' x, [s, ..] -> [s / ranks, ..]: backward joins.
Var reduce_scatter_to_sp(Context& context, Var x, comm::Group& group);

/// The pieces of s joined; every rank then computes the same: backward each takes its piece, and
/// nothing is summed.
Var replicate_from_sp(Context& context, Var x, comm::Group& group);
/// This rank's piece of s of x, which all ranks have: backward joins.
Var scatter_to_sp(Context& context, Var x, comm::Group& group);

}  // namespace mpitron::ops
