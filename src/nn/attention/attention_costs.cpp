// Counts what attention layers compute and keep, for FLOP figures and plans. Multiply-adds follow
// the reference's formula (num_floating_point_operations), so that both programs mean the same by
// TFLOP/s.
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

/// Counts kept bytes: residual_bytes, and queries, keys, values and the output as if all were h
/// wide.
double kept_bytes(const ModelConfig& model) {
  return residual_bytes(model) + 8 * hidden(model);
}

std::optional<Index> window_of(const ModelConfig& model, const config::LayerSpec& spec) {
  return spec.window && model.window_size ? std::optional((*model.window_size)[0]) : std::nullopt;
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

LayerCosts sparse_attention_costs(const ModelConfig& model) {
  const config::IndexerConfig indexer = model.indexer.value_or(config::IndexerConfig());
  const double h = hidden(model), s = static_cast<double>(model.seq_length);
  const auto from = static_cast<double>(model.q_lora_rank.value_or(model.hidden_size));
  const auto heads = static_cast<double>(indexer.heads);
  const auto width = static_cast<double>(indexer.head_dim);
  LayerCosts costs = latent_attention_costs(model);
  costs.weights += heads * width * from + h * width + h * heads + 2 * width;
  // Queries, keys and weights in 16 bits; of each key a mark and, in fp32, a gradient.
  costs.kept_bytes += 2 * ((heads + 1) * width + heads) + 5 * s;
  return costs;
}

LayerWork self_attention_work(const ModelConfig& model, const config::LayerSpec& spec) {
  const Index h = model.hidden_size, d = model.kv_channels;
  const Index queries = model.num_attention_heads * d, keys = model.num_query_groups * d;
  LayerWork work = residual_work(model);
  work.products = {{.inner = h, .outer = queries + 2 * keys, .cut = ProductWork::Cut::outer},
                   {.inner = queries, .outer = h, .cut = ProductWork::Cut::inner}};
  work.scores = {.heads = model.num_attention_heads,
                 .key_width = d,
                 .value_width = d,
                 .causal = spec.causal,
                 .window = window_of(model, spec),
                 .chunk = spec.chunk};
  const auto q = static_cast<double>(queries), kv = static_cast<double>(keys);
  work.moved.push_back({2 * (q + kv), Share::tensor});  // positions turn queries and keys
  work.kept.push_back({q + 2 * kv, Share::tensor});
  work.kept.push_back({q, Share::tensor});
  work.passed = 2 * kv;
  work.launches += 5;
  return work;
}

LayerWork latent_attention_work(const ModelConfig& model, const config::LayerSpec& spec) {
  const Index h = model.hidden_size, n = model.num_attention_heads;
  const Index wide = model.qk_head_dim + model.qk_pos_emb_head_dim, value = model.v_head_dim;
  const Index down = model.kv_lora_rank + model.qk_pos_emb_head_dim;
  using Cut = ProductWork::Cut;
  LayerWork work = residual_work(model);
  if (model.q_lora_rank) {
    work.products.push_back({.inner = h, .outer = *model.q_lora_rank});
  }
  const Index from = model.q_lora_rank.value_or(h);
  const auto up_projections = config::RecomputeModule::mla_up_proj;
  work.products.push_back(
      {.inner = from, .outer = n * wide, .cut = Cut::outer, .again_by = up_projections});
  work.products.push_back({.inner = h, .outer = down});
  work.products.push_back({.inner = model.kv_lora_rank,
                           .outer = n * (model.qk_head_dim + value),
                           .cut = Cut::outer,
                           .again_by = up_projections});
  work.products.push_back({.inner = n * value, .outer = h, .cut = Cut::inner});
  work.scores = {.heads = n,
                 .key_width = wide,
                 .value_width = value,
                 .causal = spec.causal,
                 .window = window_of(model, spec)};
  const auto latents = static_cast<double>(model.q_lora_rank.value_or(0) + down);
  const auto up = static_cast<double>(n * (2 * wide + value)), out = static_cast<double>(n * value);
  work.moved.push_back({3 * latents, Share::whole});
  work.moved.push_back(
      {2 * up, Share::tensor, up_projections});  // heads are put together of their parts
  work.kept.push_back({2 * latents, Share::along});
  work.kept.push_back({up, Share::tensor, up_projections});
  work.kept.push_back({out, Share::tensor});
  work.passed = static_cast<double>(n * (wide + value));
  work.launches += 14;
  return work;
}

/// Scores of the indexer are left out: they are computed on hosts alone.
LayerWork sparse_attention_work(const ModelConfig& model, const config::LayerSpec& spec) {
  const config::IndexerConfig indexer = model.indexer.value_or(config::IndexerConfig());
  const Index h = model.hidden_size, width = indexer.heads * indexer.head_dim;
  LayerWork work = latent_attention_work(model, spec);
  const auto product = [&](Index inner, Index outer) {
    work.products.push_back({.inner = inner, .outer = outer, .narrow = false});
  };
  product(model.q_lora_rank.value_or(h), width);
  product(h, indexer.head_dim);
  product(h, indexer.heads);
  const auto rows = static_cast<double>(width + indexer.head_dim + indexer.heads);
  const auto keys = static_cast<double>(model.seq_length);
  work.moved.push_back({6 * rows + 10 * keys, Share::whole});
  work.kept.push_back({rows + 2.5 * keys, Share::whole});
  work.launches += 12;
  return work;
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
