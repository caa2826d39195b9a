#include "nn/pooled_classifier.h"

#include "ops/activation.h"
#include "ops/linear.h"
#include "ops/regions.h"
#include "ops/sequence_rows.h"

namespace mpitron::nn {

using autograd::Var;

PooledClassifier::PooledClassifier(const Builder& builder, Index classes)
    : shared_(builder.tensor_parallel()),
      head_weight_(&builder.matrix("binary_head.weight", classes, builder.config().hidden_size)),
      head_bias_(builder.bias("binary_head.bias", classes, true)),
      pooler_weight_(&builder.matrix("pooler.dense.weight", builder.config().hidden_size,
                                     builder.config().hidden_size)),
      pooler_bias_(builder.bias("pooler.dense.bias", builder.config().hidden_size, true)) {}

Var PooledClassifier::forward(autograd::Context& context, const Var& x) const {
  const Var whole =
      shared_.cuts_sequence() ? ops::replicate_from_sp(context, x, *shared_.group) : x;
  const Var first = ops::take_rows(context, whole, 0, 1);
  const Var pooled = ops::activation(context, ops::linear(context, first, *pooler_weight_, nullptr),
                                     pooler_bias_, {.activation = ops::Activation::tanh});
  return ops::linear(context, pooled, *head_weight_, head_bias_);
}

}  // namespace mpitron::nn
