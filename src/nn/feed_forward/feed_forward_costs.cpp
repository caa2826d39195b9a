// Counts what feed-forward networks compute, move and keep, dense or with experts.
#include "nn/feed_forward/feed_forward_costs.h"

namespace mpitron::nn {
namespace {

using config::ModelConfig;

/// Counts both products; a gated one has two halves in front of the activation.
double both_products(const ModelConfig& model, Index width) {
  const double gate_factor = model.gated_linear_unit ? 1.5 : 1.0;
  return 2 * static_cast<double>(model.hidden_size * width) * gate_factor;
}

/// Counts kept bytes: residual_bytes, and two numbers of 16 bits for each of the inner width.
double kept_by_feed_forward(const ModelConfig& model) {
  return residual_bytes(model) + 4 * static_cast<double>(model.ffn_hidden_size);
}

/// Counts both products of a network of this width, what its activation moves, and what it keeps.
LayerWork network_work(const ModelConfig& model, Index width, Share share) {
  using Cut = ProductWork::Cut;
  const bool visits = share == Share::visit;
  const Index up = width * (model.gated_linear_unit ? 2 : 1);
  const auto read = static_cast<double>(up), made = static_cast<double>(width);
  const auto activation = visits ? std::optional(config::RecomputeModule::moe_act) : std::nullopt;
  return {
      .products =
          {{.inner = model.hidden_size, .outer = up, .cut = Cut::outer, .of_experts = visits},
           {.inner = width, .outer = model.hidden_size, .cut = Cut::inner, .of_experts = visits}},
      .moved = {{read + made, share, activation}},
      .kept = {{read, share}, {made, share, activation}},
      .launches = 3};
}

}  // namespace

LayerCosts mlp_costs(const ModelConfig& model) {
  const double weights = both_products(model, model.ffn_hidden_size);
  return {.multiply_adds = weights, .weights = weights, .kept_bytes = kept_by_feed_forward(model)};
}

LayerCosts experts_costs(const ModelConfig& model) {
  const config::MoeConfig& moe = model.moe.value();
  const Index shared = moe.shared_expert_intermediate_size;
  return {.multiply_adds = both_products(model, moe.topk * moe.ffn_hidden_size + shared),
          .weights = both_products(model, moe.num_experts * moe.ffn_hidden_size + shared),
          .kept_bytes = kept_by_feed_forward(model)};
}

LayerWork mlp_work(const ModelConfig& model, const config::LayerSpec& /*spec*/) {
  LayerWork work = residual_work(model);
  work += network_work(model, model.ffn_hidden_size, Share::tensor);
  for (KeptNumbers& kept : work.kept) {
    kept.dropped_by = kept.dropped_by ? kept.dropped_by : config::RecomputeModule::mlp;
  }
  return work;
}

LayerWork experts_work(const ModelConfig& model, const config::LayerSpec& /*spec*/) {
  const config::MoeConfig& moe = model.moe.value();
  const auto h = static_cast<double>(model.hidden_size);
  LayerWork work = residual_work(model);
  work.visits = true;
  work.products.push_back({.inner = model.hidden_size, .outer = moe.num_experts, .narrow = false});
  work += network_work(model, moe.ffn_hidden_size, Share::visit);
  work.moved.push_back({4 * h, Share::visit});  // permuted on both sides, there and back
  work.kept.push_back({2 * h, Share::visit});
  work.launches += 30;
  if (moe.shared_expert_intermediate_size > 0) {
    LayerWork shared = network_work(model, moe.shared_expert_intermediate_size, Share::tensor);
    for (KeptNumbers& kept : shared.kept) {
      kept.dropped_by = config::RecomputeModule::shared_experts;
    }
    ++work.regions;
    work += shared;
  }
  return work;
}

}  // namespace mpitron::nn
