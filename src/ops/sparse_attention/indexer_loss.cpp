// Trains an indexer to foretell attention. The probabilities of attention are made once more, since
// no attention kernel stores them; the gradient takes their memory.
#include "ops/sparse_attention/indexer_loss.h"

#include "autograd/gradient.h"
#include "kernels/sparse_attention/indexer_loss.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

/// Sums over the heads of all ranks, [b, s, s].
Tensor summed_probabilities(Context& context, const Tensor& scores,
                            const ForetoldAttention& attention) {
  const Tensor sums = context.empty(scores.shape(), scores.dtype());
  const device::ConstTensorView qkv = attention.qkv;
  kernels::SummedProbabilities kernel{.q = attention.layout.queries(qkv),
                                      .k = attention.layout.keys(qkv),
                                      .mask = {},
                                      .probabilities = sums.view(),
                                      .scale = static_cast<float>(attention.scale)};
  if (attention.mask) {
    kernel.mask = attention.mask.view();
  }
  context.launch(kernel);
  if (attention.heads != nullptr) {
    attention.heads->all_reduce(sums.view()).wait();
  }
  return sums;
}

}  // namespace

Var indexer_loss(Context& context, const Var& scores, const ForetoldAttention& attention) {
  const Tensor difference = summed_probabilities(context, scores.value, attention);
  const Index samples = scores.shape()[0], s = scores.shape()[1];
  const double factor = 1 / static_cast<double>(samples * s);
  const Tensor rows = context.empty({samples, s}, DType::f64);
  Var loss = autograd::variable(context.empty({1}, DType::f64));
  kernels::IndexerLoss kernel{.scores = scores.value.view(),
                              .mask = {},
                              .probabilities = difference.view(),
                              .rows = rows.view(),
                              .loss = loss.value.view(),
                              .factor = factor};
  if (attention.mask) {
    kernel.mask = attention.mask.view();
  }
  context.launch(kernel);
  if (context.recording()) {
    context.record(loss.slot, [slot = scores.slot, difference, factor](Context& inner,
                                                                       const Tensor& gradient) {
      inner.launch(kernels::IndexerLossBackward{
          .dloss = gradient.view(), .difference = difference.view(), .factor = factor});
      autograd::accumulate(inner, slot, difference);
    });
  }
  return loss;
}

}  // namespace mpitron::ops
