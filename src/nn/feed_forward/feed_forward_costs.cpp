#include "nn/feed_forward/feed_forward_costs.h"

namespace mpitron::nn {
namespace {

using config::ModelConfig;

/// Of both products; a gated one has two halves in front of the activation.
double product_weights(const ModelConfig& model, Index width) {
  const double gate_factor = model.gated_linear_unit ? 1.5 : 1.0;
  return 2 * static_cast<double>(model.hidden_size * width) * gate_factor;
}

/// Beside residual_bytes: what the activation reads and makes.
double kept_bytes(const ModelConfig& model) {
  return residual_bytes(model) + 4 * static_cast<double>(model.ffn_hidden_size);
}

}  // namespace

LayerCosts mlp_costs(const ModelConfig& model) {
  const double weights = product_weights(model, model.ffn_hidden_size);
  return {.multiply_adds = weights, .weights = weights, .kept_bytes = kept_bytes(model)};
}

LayerCosts experts_costs(const ModelConfig& model) {
  const config::MoeConfig& moe = model.moe.value();
  const Index shared = moe.shared_expert_intermediate_size;
  return {.multiply_adds = product_weights(model, moe.topk * moe.ffn_hidden_size + shared),
          .weights = product_weights(model, moe.num_experts * moe.ffn_hidden_size + shared),
          .kept_bytes = kept_bytes(model)};
}

}  // namespace mpitron::nn
