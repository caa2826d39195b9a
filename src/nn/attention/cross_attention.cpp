// Attends from a decoder to an encoder's output. In generation the encoder's keys and values are
// put into a cache once for a request and read by all its steps.
#include "nn/attention/cross_attention.h"

#include "ops/attention/cached_attention.h"
#include "ops/attention/cross_attention.h"
#include "ops/elementwise/bias_dropout_add.h"
#include "ops/linear/parallel_linear.h"

namespace mpitron::nn {

using autograd::Var;

CrossAttention::CrossAttention(const Builder& builder, Index layer_number)
    : shared_(builder.tensor_parallel()),
      attention_dropout_(builder.config().attention_dropout),
      layer_number_(static_cast<std::uint32_t>(layer_number)) {
  const config::ModelConfig& config = builder.config();
  const Index heads = config.num_attention_heads, groups = config.num_query_groups;
  const Index h = config.hidden_size, d = config.kv_channels, ranks = shared_.size();
  MPITRON_CHECK(heads % ranks == 0 && groups % ranks == 0, heads, groups, ranks);
  settings_.layout = {heads / ranks, groups / ranks, d};
  settings_.scale = static_cast<float>(config.softmax_scale);
  settings_.causal = false;

  const bool biased = config.add_bias_linear;
  const tensor::Shard q_rows = builder.piece(0, heads * d),
                      kv_rows = builder.piece(0, 2 * groups * d);
  proj_weight_ = &builder.output_weight("linear_proj.weight", h, heads * d);
  proj_bias_ = builder.output_bias("linear_proj.bias", h, biased);
  q_weight_ = &builder.linear_weight("linear_q.weight", heads * d, h, q_rows);
  q_bias_ = builder.bias("linear_q.bias", heads * d, biased, q_rows);
  kv_weight_ = &builder.linear_weight("linear_kv.weight", 2 * groups * d, h, kv_rows);
  kv_bias_ = builder.bias("linear_kv.bias", 2 * groups * d, biased, kv_rows);
}

Var CrossAttention::keys_values(autograd::Context& context, const Var& memory) const {
  return ops::column_parallel_linear(context, memory, *kv_weight_, kv_bias_, shared_);
}

void CrossAttention::keep_encoded(autograd::Context& context, const Var& memory) const {
  ops::append_encoded(context, keys_values(context, memory), settings_,
                      static_cast<Index>(layer_number_));
}

/// Queries come from the decoder, keys and values from the memory; no causal mask.
BranchOutput CrossAttention::forward(autograd::Context& context, const autograd::Recomputable& x,
                                     const LayerInputs& inputs) const {
  const Var queries = ops::column_parallel_linear(context, x, *q_weight_, q_bias_, shared_);
  if (context.cached != nullptr) {
    const Var attended =
        ops::cached_cross_attention(context, queries, settings_, static_cast<Index>(layer_number_));
    return {ops::row_parallel_linear(context, attended, *proj_weight_, shared_), proj_bias_};
  }
  const Var kv = keys_values(context, inputs.memory->states);
  ops::AttentionSettings settings = settings_;
  settings.mask = inputs.memory->mask;
  settings.dropout =
      ops::dropout_mask(context, attention_dropout_, layer_number_,
                        static_cast<std::uint32_t>(DropoutSite::cross_attention_probabilities));
  settings.dropout.index.column_offset = shared_.rank() * settings.layout.heads;
  const Var attended = ops::cross_attention(context, queries, kv, settings);
  return {ops::row_parallel_linear(context, attended, *proj_weight_, shared_), proj_bias_};
}

}  // namespace mpitron::nn
