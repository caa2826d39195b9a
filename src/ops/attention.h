#pragma once
#include "autograd/renewable.h"
#include "kernels/dropout.h"
#include "ops/qkv_layout.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Renewable;
using autograd::Var;

struct AttentionSettings {
  QkvLayout layout;
  float scale = 1;
  bool causal = true;
  Index window = -1;    // keys before the query that stay visible; -1: all
  tensor::Tensor mask;  // [b or 1, s or 1, positions of keys], u8, 1 = hidden; optional
  kernels::DropoutMask dropout;
  // [s + s_kv - 1, 1, heads of all ranks], in qkv's type: that of query i and key j at
  // j - i + s - 1; optional.
  Var bias = {};
  Index first_head = 0;  // of the bias's, here
};

/// Softmax attention over a fused qkv (ops/qkv_layout.h); the result is [s, b, n dv].
///
/// Numerical contract: kernels/attention.h. Scores are never stored, so "selective" recomputation
/// of the core attention has nothing left to drop.
Var attention(Context& context, const Renewable& qkv, const AttentionSettings& settings);

}  // namespace mpitron::ops
