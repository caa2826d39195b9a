// Classifies samples by one position: the first through a pooler, or the last token of a decoder.
#include "nn/layers/pooled_classifier.h"

#include "nn/base/branch.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/bias_dropout_add.h"
#include "ops/elementwise/reshape.h"
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

PooledClassifier::PooledClassifier(const Builder& builder, Index classes,
                                   const std::optional<Layer>& pooler, const Layer& head,
                                   double dropout)
    : shared_(builder.tensor_parallel()),
      head_weight_(weight_of(builder, head, classes)),
      head_bias_(bias_of(builder, head, classes)),
      dropout_(dropout) {
  if (pooler) {
    pooler_weight_ = weight_of(builder, *pooler, builder.config().hidden_size);
    pooler_bias_ = bias_of(builder, *pooler, builder.config().hidden_size);
  }
}

/// W2 tanh(W1 x[0] + b1) + b2; without a pooler W2 x[i] + b2 of the row i that is read.
Var PooledClassifier::forward(autograd::Context& context, const Var& x,
                              const ops::RowChoice& read) const {
  const Var whole =
      shared_.cuts_sequence() ? ops::replicate_from_sp(context, x, *shared_.group) : x;
  const Index b = whole.shape()[1], h = whole.shape()[2];
  Var pooled;
  if (read.rows) {
    const Var rows = ops::reshape(context, whole, {whole.shape()[0] * b, h});
    pooled = ops::reshape(context, ops::select_rows(context, rows, read), {1, b, h});
  } else {
    pooled = ops::take_rows(context, whole, 0, 1);
  }
  if (pooler_weight_ != nullptr) {
    pooled = ops::activation(context, ops::linear(context, pooled, *pooler_weight_, nullptr),
                             pooler_bias_, {.activation = ops::Activation::tanh});
  }
  if (dropout_ > 0) {
    const auto site = static_cast<std::uint32_t>(DropoutSite::pooled);
    pooled = ops::bias_dropout_add(context, pooled, nullptr, {},
                                   ops::dropout_mask(context, dropout_, 0, site));
  }
  return ops::linear(context, pooled, *head_weight_, head_bias_);
}

}  // namespace mpitron::nn
