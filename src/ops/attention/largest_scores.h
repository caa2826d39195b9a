#pragma once
#include "autograd/context.h"
#include "comm/groups/group.h"
#include "ops/attention/attention.h"

namespace mpitron::ops {

/// Of each head [n], fp32: the largest score that its softmax sees of the queries in qkv, which
/// holds this rank's zigzag slice of the sequences that `group` shares; null or of one: whole ones.
/// Contract: kernels/attention/attention_largest.h.
tensor::Tensor largest_scores(Context& context, const tensor::Tensor& qkv,
                              const AttentionSettings& settings, comm::Group* group = nullptr);

}  // namespace mpitron::ops
