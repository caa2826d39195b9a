#pragma once
#include <cmath>

#include "config/model_config.h"
#include "models/gpt/gpt_model.h"
#include "support/tensors.h"

namespace mpitron::test {

/// A model that trains in milliseconds: two layers, h 16, four heads in two groups, dropout on.
inline config::ModelConfig tiny_gpt() {
  config::ModelConfig config;
  config.num_layers = config.num_query_groups = 2;
  config.hidden_size = 16;
  config.ffn_hidden_size = 32;
  config.num_attention_heads = config.kv_channels = 4;
  config.group_query_attention = true;
  config.seq_length = 6;
  config.max_position_embeddings = 8;
  config.padded_vocab_size = 24;
  config.softmax_scale = 0.5;
  config.attention_dropout = config.hidden_dropout = 0.2;
  config.init_method_std = 0.2;
  return config;
}

/// Samples [first, first + count) of an endless corpus of 24 words: [s, b].
inline models::Batch tiny_batch(device::Device& device, Index s, Index first, Index count) {
  std::vector<std::int64_t> tokens, labels, positions;
  for (Index i = 0; i < s; ++i) {
    for (Index sample = first; sample < first + count; ++sample) {
      tokens.push_back((7 * sample + 5 * i + i * i) % 24);
      labels.push_back((7 * sample + 5 * (i + 1) + (i + 1) * (i + 1)) % 24);
      positions.push_back(i);
    }
  }
  return {{models::kTokens, make_ids(device, {s, count}, tokens)},
          {models::kPositionIds, make_ids(device, {s, count}, positions)},
          {models::kLabels, make_ids(device, {s, count}, labels)}};
}

/// Gives every parameter an fp32 main_grad of NaN, so that reading before the first write shows.
inline void make_main_grads(device::Device& device, autograd::ParameterList& parameters) {
  for (autograd::Parameter& parameter : parameters) {
    const std::vector<double> poison(static_cast<std::size_t>(parameter.value.numel()), NAN);
    parameter.sink.main_grad = make_tensor(device, parameter.value.shape(), DType::f32, poison);
    parameter.sink.written = false;
  }
}

}  // namespace mpitron::test
