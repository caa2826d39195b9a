#pragma once
#include "autograd/context.h"
#include "comm/groups/group.h"
#include "ops/attention/qkv_layout.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// Attention that an indexer is to foretell.
struct ForetoldAttention {
  tensor::Tensor qkv;  // fused, of this rank's heads
  QkvLayout layout;
  double scale = 1;
  tensor::Tensor mask;           // [b or 1, s or 1, s], u8, 1 = hidden; optional
  comm::Group* heads = nullptr;  // ranks that have the other heads; null: nobody
};

/// The mean over samples and queries of KL(attention || softmax of scores), fp64 [1], over the keys
/// that the mask leaves; attention is the mean over all heads. Its gradient is for the scores
/// alone, and each rank that has heads gets it whole.
///
/// Numerical contract: kernels/sparse_attention/indexer_loss.h; heads are summed over ranks in
/// fp32 (fp64 for fp64).
Var indexer_loss(Context& context, const Var& scores, const ForetoldAttention& attention);

}  // namespace mpitron::ops
