#include "nn/layers/multi_token_prediction.h"

#include "autograd/parameter_unit.h"
#include "nn/base/recomputed.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/columns.h"
#include "ops/linear/parallel_linear.h"
#include "ops/parallel/tensor_parallel_regions.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;

namespace {

/// Column parallel, [h, 2h].
Parameter* make_projection(const Builder& builder) {
  const Index h = builder.config().hidden_size;
  return &builder.linear_weight("eh_proj.weight", h, 2 * h, builder.piece(0, h));
}

}  // namespace

MultiTokenPrediction::MultiTokenPrediction(const Builder& builder, Index layer_number)
    : config_(builder.config()),
      shared_(builder.tensor_parallel()),
      embedding_norm_(builder, "enorm", config_.hidden_size),
      hidden_norm_(builder, "hnorm", config_.hidden_size),
      projection_(make_projection(builder)),
      layer_(builder.child("transformer_layer"), layer_number),
      final_norm_(builder, "final_layernorm", config_.hidden_size) {}

Var MultiTokenPrediction::projected(Context& context, const Var& hidden,
                                    const Var& embedded) const {
  const Var both = ops::join_columns(context, embedding_norm_.forward(context, embedded),
                                     hidden_norm_.forward(context, hidden));
  Var x = ops::column_parallel_linear(context, both, *projection_, nullptr, shared_);
  if (shared_.shared()) {
    x = ops::gather_from_tp(context, x, *shared_.group);
  }
  if (shared_.cuts_sequence()) {
    x = ops::scatter_to_sp(context, x, *shared_.group);
  }
  return config_.fp32_residual_connection ? ops::cast(context, x, DType::f32) : x;
}

/// The reference recomputes it with --recompute-method uniform only.
Var MultiTokenPrediction::layer(Context& context, const Var& x, const LayerInputs& inputs) const {
  const auto block = [this, inputs](Context& inner, const Var& input) {
    return layer_.forward(inner, input, inputs);
  };
  const bool again = config_.recompute_granularity == config::RecomputeGranularity::full &&
                     config_.recompute_method == config::RecomputeMethod::uniform;
  return again ? recomputed(context, config_, shared_, block, x) : block(context, x);
}

Var MultiTokenPrediction::forward(Context& context, const Var& hidden, const Var& embedded,
                                  const LayerInputs& inputs) const {
  const auto depth = [&](Context& inner, const Var& x) {
    return final_norm_.forward(inner, layer(inner, projected(inner, x, embedded), inputs));
  };
  return autograd::in_unit(context, number(), depth, hidden);
}

}  // namespace mpitron::nn
