#pragma once
#include <span>

#include "autograd/context.h"
#include "ops/attention/qkv_layout.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// Tables of a rotary embedding: row i holds cos and sin of the angles at position i, or at
/// position i / b of sample i % b; type as the activations.
struct RotaryTables {
  tensor::Tensor cos, sin;  // [s, r] or [s b, r]
  bool interleaved = false;
};

/// The rows of a table, [s, ..], of which it has one for every position; by a slice of them cut out
/// where they are neighbours. `positions`: [t], int64.
tensor::Tensor position_rows(Context& context, const tensor::Tensor& table,
                             const SequenceSlice& positions);
tensor::Tensor position_rows(Context& context, const tensor::Tensor& table,
                             const tensor::Tensor& positions);

/// The tables' rows at some positions, of which the tables hold all.
RotaryTables rotary_rows(Context& context, const RotaryTables& tables,
                         const SequenceSlice& positions);
/// Rotates at any positions [t], int64.
RotaryTables rotary_rows(Context& context, const RotaryTables& tables,
                         const tensor::Tensor& positions);

/// Rotates at places of as many axes as there are `sections`, [axes, t], int64: so many frequencies
/// as a section says turn by its axis, one section's behind the other's.
RotaryTables rotary_rows(Context& context, const RotaryTables& tables, const tensor::Tensor& places,
                         std::span<const Index> sections);

/// Rotates the query and key heads of a fused qkv in place: the op that made qkv must not have
/// saved it.
///
/// Numerical contract: rotary.h; backward is the inverse rotation of the gradient.
Var rotary(Context& context, const Var& qkv, const QkvLayout& layout, const RotaryTables& tables);

/// Multiplies the query heads of a fused qkv by a factor of their position, in place: the op that
/// made qkv must not have saved it. `factors`: [s], fp32.
///
/// Numerical contract: fp32, one rounding; backward is the same of the gradient.
Var scaled_queries(Context& context, const Var& qkv, const QkvLayout& layout,
                   const tensor::Tensor& factors);

}  // namespace mpitron::ops
