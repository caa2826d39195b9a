#include "ops/loss/cross_entropy.h"

#include "ops/loss/vocab_parallel_cross_entropy.h"

namespace mpitron::ops {

Var cross_entropy(Context& context, const Var& logits, const tensor::Tensor& labels,
                  float label_smoothing) {
  return vocab_parallel_cross_entropy(context, logits, labels, {}, label_smoothing);
}

}  // namespace mpitron::ops
