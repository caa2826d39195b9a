#include "nn/attention/attention_costs.h"

namespace mpitron::nn {
namespace {

using config::ModelConfig;

double hidden(const ModelConfig& model) {
  return static_cast<double>(model.hidden_size);
}

/// Width of all heads over the hidden size.
double projection_ratio(const ModelConfig& model) {
  return static_cast<double>(model.kv_channels * model.num_attention_heads) / hidden(model);
}

/// Beside residual_bytes: queries, keys, values and the output, as if all were h wide.
double kept_bytes(const ModelConfig& model) {
  return residual_bytes(model) + 8 * hidden(model);
}

}  // namespace

LayerCosts self_attention_costs(const ModelConfig& model) {
  const double h = hidden(model), ratio = projection_ratio(model);
  const auto n = static_cast<double>(model.num_attention_heads);
  const auto g = static_cast<double>(model.num_query_groups);
  const auto s = static_cast<double>(model.seq_length);
  return {.multiply_adds = 2 * h * h * (1 + g / n + s / h / 2) * ratio,
          .weights = 2 * h * h * (1 + g / n) * ratio,
          .kept_bytes = kept_bytes(model),
          .state = 2 * s * g * static_cast<double>(model.kv_channels)};
}

LayerCosts latent_attention_costs(const ModelConfig& model) {
  const double h = hidden(model);
  const auto n = static_cast<double>(model.num_attention_heads);
  const auto s = static_cast<double>(model.seq_length);
  const auto plain = static_cast<double>(model.qk_head_dim);
  const auto rotary = static_cast<double>(model.qk_pos_emb_head_dim);
  const auto value = static_cast<double>(model.v_head_dim);
  const auto kv_rank = static_cast<double>(model.kv_lora_rank);
  const auto q_rank = static_cast<double>(model.q_lora_rank.value_or(0));
  // A latent has a norm: one weight for each of its numbers.
  const double query =
      model.q_lora_rank ? q_rank * (h + n * (plain + rotary) + 1) : h * n * (plain + rotary);
  const double weights =
      query + kv_rank * (h + n * (plain + value) + 1) + h * rotary + n * value * h;
  return {.multiply_adds = weights + s * n * (plain + rotary) / 2 + s * n * value / 2,
          .weights = weights,
          .kept_bytes = kept_bytes(model),
          .state = s * (kv_rank + rotary)};
}

LayerCosts cross_attention_costs(const ModelConfig& model) {
  const double h = hidden(model), width = h * projection_ratio(model);
  const auto queries = static_cast<double>(model.decoder_seq_length);
  const auto keys = static_cast<double>(model.seq_length);
  const double projections = 2 * h * width * (queries + keys);
  const double products = 2 * queries * keys * width;  // scores, and values by them
  return {.multiply_adds = (projections + products) / queries,
          .weights = 4 * h * width,
          .kept_bytes = kept_bytes(model),
          .state = 2 * keys * width};
}

}  // namespace mpitron::nn
