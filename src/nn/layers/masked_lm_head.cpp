// Builds BERT's head in front of the output layer; all ranks of a tensor parallel group have its
// weights whole.
#include "nn/layers/masked_lm_head.h"

#include "ops/elementwise/activation.h"
#include "ops/linear/linear.h"

namespace mpitron::nn {

using autograd::Var;

MaskedLmHead::MaskedLmHead(const Builder& builder)
    : weight_(&builder.matrix("dense.weight", builder.config().hidden_size,
                              builder.config().hidden_size)),
      bias_(builder.output_bias("dense.bias", builder.config().hidden_size, true)),
      norm_(builder, "layer_norm", builder.config().hidden_size) {
  weight_->placement.sum_over_tensor = builder.tensor_parallel().cuts_sequence();
}

/// norm(gelu(W x + b)).
Var MaskedLmHead::forward(autograd::Context& context, const Var& x) const {
  const Var dense = ops::linear(context, x, *weight_, nullptr);
  const Var activated =
      ops::activation(context, dense, bias_, {.activation = ops::Activation::gelu_erf});
  return norm_.forward(context, activated);
}

}  // namespace mpitron::nn
