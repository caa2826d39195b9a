#include "nn/layers/pooled_classifier.h"

#include "ops/elementwise/activation.h"
#include "ops/linear/linear.h"
#include "ops/parallel/sequence_rows.h"
#include "ops/parallel/tensor_parallel_regions.h"

namespace mpitron::nn {

using autograd::Var;

namespace {

/// Every tensor parallel rank has the layer whole.
Parameter* weight_of(const Builder& builder, const PooledClassifier::Layer& layer, Index out) {
  return &builder.parameter(layer.name + ".weight", {out, builder.config().hidden_size}, {},
                            layer.weight);
}

Parameter* bias_of(const Builder& builder, const PooledClassifier::Layer& layer, Index out) {
  return &builder.parameter(layer.name + ".bias", {out}, {}, layer.bias);
}

}  // namespace

PooledClassifier::PooledClassifier(const Builder& builder, Index classes, const Layer& pooler,
                                   const Layer& head)
    : shared_(builder.tensor_parallel()),
      head_weight_(weight_of(builder, head, classes)),
      head_bias_(bias_of(builder, head, classes)),
      pooler_weight_(weight_of(builder, pooler, builder.config().hidden_size)),
      pooler_bias_(bias_of(builder, pooler, builder.config().hidden_size)) {}

/// W2 tanh(W1 x[0] + b1) + b2.
Var PooledClassifier::forward(autograd::Context& context, const Var& x) const {
  const Var whole =
      shared_.cuts_sequence() ? ops::replicate_from_sp(context, x, *shared_.group) : x;
  const Var first = ops::take_rows(context, whole, 0, 1);
  const Var pooled = ops::activation(context, ops::linear(context, first, *pooler_weight_, nullptr),
                                     pooler_bias_, {.activation = ops::Activation::tanh});
  return ops::linear(context, pooled, *head_weight_, head_bias_);
}

}  // namespace mpitron::nn
