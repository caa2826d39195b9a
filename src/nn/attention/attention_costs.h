#pragma once
#include "config/layer_pattern.h"
#include "nn/base/layer_work.h"

namespace mpitron::nn {

LayerCosts self_attention_costs(const config::ModelConfig& model);
LayerCosts latent_attention_costs(const config::ModelConfig& model);
/// Counts the indexer's weights, and like the reference no operations of it.
LayerCosts sparse_attention_costs(const config::ModelConfig& model);

LayerWork self_attention_work(const config::ModelConfig& model, const config::LayerSpec& spec);
LayerWork latent_attention_work(const config::ModelConfig& model, const config::LayerSpec& spec);
LayerWork sparse_attention_work(const config::ModelConfig& model, const config::LayerSpec& spec);

/// Counts cross attention of a decoder of decoder_seq_length tokens that sees seq_length positions
/// of its encoder. The reference's formula leaves it out of the model's sum.
LayerCosts cross_attention_costs(const config::ModelConfig& model);

}  // namespace mpitron::nn
