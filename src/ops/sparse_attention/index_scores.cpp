// Ranks keys for sparse attention. Scores have a gradient, which the loss of the indexer gives
// them; the choice of keys has none.
#include "ops/sparse_attention/index_scores.h"

#include "autograd/gradient.h"
#include "kernels/sparse_attention/index_choice.h"
#include "kernels/sparse_attention/index_scores.h"
#include "ops/attention/attention_block.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

/// [s, b, (n + 1) d] as [s, b, n + 1, d].
Tensor rows_of_heads(const Tensor& qk, const Tensor& weights) {
  const Index rows = weights.shape()[2] + 1;
  return qk.reshape({qk.shape()[0], qk.shape()[1], rows, qk.shape()[2] / rows});
}

struct IndexScoresBackward {
  Tensor qk, weights;
  Slot qk_slot, weights_slot;
  float factor;

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dqk = context.empty(qk.shape(), qk.dtype());
    const Tensor dweights = context.empty(weights.shape(), weights.dtype());
    context.launch(kernels::IndexScoresBackward{.qk = rows_of_heads(qk, weights).view(),
                                                .weights = weights.view(),
                                                .dscores = gradient.view(),
                                                .dqk = rows_of_heads(dqk, weights).view(),
                                                .dweights = dweights.view(),
                                                .factor = factor});
    autograd::accumulate(context, qk_slot, dqk);
    autograd::accumulate(context, weights_slot, dweights);
  }
};

}  // namespace

Var index_scores(Context& context, const Var& qk, const Var& weights, double factor) {
  const Index s = qk.shape()[0], b = qk.shape()[1];
  const auto by = static_cast<float>(factor);
  Var scores = autograd::variable(context.empty({b, s, s}, wide_type(qk.value.dtype())));
  context.launch(kernels::IndexScores{.qk = rows_of_heads(qk.value, weights.value).view(),
                                      .weights = weights.value.view(),
                                      .scores = scores.value.view(),
                                      .factor = by});
  if (context.recording()) {
    context.record(scores.slot,
                   IndexScoresBackward{qk.value, weights.value, qk.slot, weights.slot, by});
  }
  return scores;
}

Tensor unchosen_keys(Context& context, const Tensor& scores, const Tensor& mask, Index topk) {
  const Tensor hidden = context.empty(scores.shape(), DType::u8);
  kernels::IndexChoice kernel{
      .scores = scores.view(), .mask = {}, .hidden = hidden.view(), .topk = topk};
  if (mask) {
    kernel.mask = mask.view();
  }
  context.launch(kernel);
  return hidden;
}

}  // namespace mpitron::ops
