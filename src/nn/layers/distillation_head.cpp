// Builds DINO's projection head: three linear layers, unit rows, and a last layer of directions
// and lengths. Lengths stay one with --dino-norm-last-layer; the model holds the whole last layer
// during the first epochs.
#include "nn/layers/distillation_head.h"

#include "ops/elementwise/activation.h"
#include "ops/elementwise/unit_rows.h"
#include "ops/linear/linear.h"
#include "ops/linear/weight_normed_linear.h"

namespace mpitron::nn {

using autograd::Initialization;
using autograd::Var;

DistillationHead::Layer DistillationHead::layer(const Builder& builder, const std::string& name,
                                                Index out, Index in) {
  // The reference cuts at 100 deviations.
  const Initialization normal{.kind = Initialization::Kind::normal, .std = 0.02};
  return {builder.parameter(name + ".weight", {out, in}, {}, normal),
          builder.parameter(name + ".bias", {out}, {}, {})};
}

DistillationHead::DistillationHead(const Builder& builder, const config::DinoConfig& dino)
    : first_(layer(builder, "mlp.0", dino.head_hidden_size, builder.config().hidden_size)),
      second_(layer(builder, "mlp.2", dino.head_hidden_size, dino.head_hidden_size)),
      third_(layer(builder, "mlp.4", dino.bottleneck_size, dino.head_hidden_size)),
      direction_(builder.parameter("last_layer.weight_v", {dino.outputs, dino.bottleneck_size}, {},
                                   uniform_of_inputs(dino.bottleneck_size))),
      length_(builder.parameter("last_layer.weight_g", {dino.outputs, 1}, {},
                                {.kind = Initialization::Kind::ones})) {
  length_.role.frozen = dino.fixed_norm;
}

Var DistillationHead::forward(autograd::Context& context, const Var& x) const {
  const ops::ActivationSettings gelu{.activation = ops::Activation::gelu_erf};
  Var y = ops::linear(context, x, first_.weight, nullptr);
  y = ops::activation(context, y, &first_.bias, gelu);
  y = ops::linear(context, y, second_.weight, nullptr);
  y = ops::activation(context, y, &second_.bias, gelu);
  y = ops::linear(context, y, third_.weight, &third_.bias);
  return ops::weight_normed_linear(context, ops::unit_rows(context, y), direction_, length_);
}

}  // namespace mpitron::nn
