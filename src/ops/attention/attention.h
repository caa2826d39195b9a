#pragma once
#include "autograd/parameter.h"
#include "autograd/recomputable.h"
#include "kernels/elementwise/dropout.h"
#include "ops/attention/qkv_layout.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Recomputable;
using autograd::Var;

struct AttentionSettings {
  QkvLayout layout;
  float scale = 1;
  bool causal = true;
  Index window = -1;    // keys before the query that stay visible; -1: all
  Index chunk = 0;      // a query sees keys of its own chunk of so many positions; 0: of all
  float softcap = 0;    // bound of the scores; 0: none
  tensor::Tensor mask;  // [b or 1, s or 1, positions of keys], u8, 1 = hidden; optional
  tensor::Tensor seen_until = {};  // [b or 1, s], i64: as in the kernel; optional
  kernels::DropoutMask dropout;
  // [s + s_kv - 1, 1, heads of all ranks], in qkv's type: that of query i and key j at
  // j - i + s - 1; optional.
  Var bias = {};
  Index first_head = 0;  // of the bias's, here
  // One more logit in each softmax (kernels/attention/attention_sink.h): none, 0, or that of each
  // head in a parameter, of which `sink_head` is the first that is here.
  enum class Sink { none, zero, learned } sink = Sink::none;
  autograd::Parameter* sink_logits = nullptr;
  Index sink_head = 0;
};

/// Softmax attention over a fused qkv (ops/attention/qkv_layout.h); the result is [s, b, n dv].
///
/// Numerical contract: attention.h. Scores are never stored, so "selective" recomputation
/// of the core attention has nothing left to drop.
Var attention(Context& context, const Recomputable& qkv, const AttentionSettings& settings);

}  // namespace mpitron::ops
