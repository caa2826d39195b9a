#pragma once
#include "autograd/context.h"
#include "ops/attention/attention.h"

namespace mpitron::ops {

/// Of each head [n], fp32: the largest score that its softmax sees in qkv, which holds whole
/// sequences. Contract: kernels/attention/attention_largest.h.
tensor::Tensor largest_scores(Context& context, const tensor::Tensor& qkv,
                              const AttentionSettings& settings);

}  // namespace mpitron::ops
