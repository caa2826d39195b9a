// Builds a depth of multi-token prediction. Embeddings come shifted by one more token, whose
// gradient reaches the table as any other use of it does.
#include "nn/layers/multi_token_prediction.h"

#include "autograd/parameter_unit.h"
#include "nn/layers/transformer_block.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/reshape.h"
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

std::deque<TransformerLayer> make_layers(const Builder& builder, Index first_number) {
  std::deque<TransformerLayer> layers;
  if (builder.config().hybrid.depth_pattern.empty()) {
    layers.emplace_back(builder.child("transformer_layer"), first_number);
    return layers;
  }
  const Builder block = builder.child("mtp_model_layer");
  for (Index i = 0; i < builder.config().depth_layers(); ++i) {
    const Index number = first_number + i;
    layers.emplace_back(block.layer("layers." + std::to_string(i), number), number);
  }
  return layers;
}

}  // namespace

MultiTokenPrediction::MultiTokenPrediction(const Builder& builder, Index first_number)
    : config_(builder.config()),
      shared_(builder.tensor_parallel()),
      embedding_norm_(builder, "enorm", config_.hidden_size),
      hidden_norm_(builder, "hnorm", config_.hidden_size),
      projection_(make_projection(builder)),
      layers_(make_layers(builder, first_number)),
      final_norm_(builder.of_layer(layers_.back().number()), "final_layernorm",
                  config_.hidden_size) {}

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
Var MultiTokenPrediction::run_layer(Context& context, const TransformerLayer& layer, const Var& x,
                                    const LayerInputs& inputs) const {
  const auto block = [&layer, inputs](Context& inner, const Var& input) {
    return layer.forward(inner, input, inputs);
  };
  const bool again = config_.recompute_granularity == config::RecomputeGranularity::full &&
                     config_.recompute_method == config::RecomputeMethod::uniform;
  return again ? recomputed(context, config_, shared_, block, x) : block(context, x);
}

Var MultiTokenPrediction::forward(Context& context, const Var& hidden, const Var& embedded,
                                  const LayerInputs& inputs) const {
  Var result = hidden;
  for (const TransformerLayer& layer : layers_) {
    const auto unit = [&](Context& inner, const Var& x) {
      const bool first = &layer == &layers_.front(), last = &layer == &layers_.back();
      const Var input = first ? projected(inner, x, embedded) : x;
      const Var output = run_layer(inner, layer, input, inputs);
      return last ? final_norm_.forward(inner, output) : output;
    };
    result = autograd::in_unit(context, layer.number(), unit, result);
  }
  return result;
}

}  // namespace mpitron::nn
