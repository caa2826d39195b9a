// Attends between a layer's projections. It decides once which exchange, mask, window and sink the
// layer has, and passes whole sequences and cached ones to their ops.
#include "nn/attention/core_attention.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "config/layer_pattern.h"
#include "nn/base/branch.h"
#include "ops/attention/cached_attention.h"
#include "ops/attention/largest_scores.h"
#include "ops/elementwise/bias_dropout_add.h"
#include "tensor/host_copy.h"

namespace mpitron::nn {
namespace {

/// Sparse attention has none, as in the reference.
double dropout_of(const config::ModelConfig& config, Index layer_number) {
  const config::MixerKind mixer = config::layer_spec(config, layer_number).mixer;
  return mixer == config::MixerKind::sparse_attention ? 0 : config.attention_dropout;
}

}  // namespace

CoreAttention::CoreAttention(const Builder& builder, Index layer_number,
                             const ops::QkvLayout& layout, double scale, bool causal)
    : exchange_(builder.groups().exchange_of(layer_number)),
      context_groups_{builder.groups().context, builder.groups().context_levels},
      dropout_(dropout_of(builder.config(), layer_number)),
      layer_number_(static_cast<std::uint32_t>(layer_number)),
      first_head_(builder.tensor_parallel().rank() * layout.heads) {
  const config::ModelConfig& config = builder.config();
  settings_.layout = layout;
  settings_.scale = static_cast<float>(scale);
  settings_.causal = causal;
  settings_.softcap = static_cast<float>(config.attn_logit_softcapping.value_or(0));
  settings_.window =
      config::layer_spec(config, layer_number).window ? (*config.window_size)[0] : -1;
  settings_.chunk = config::layer_spec(config, layer_number).chunk;
  heads_ = config.num_attention_heads;
  tells_largest_ = config.qk_clip || config.log_max_attention_logit;
  make_sink(builder.child("core_attention"));
  ops::check_context_exchange(exchange_, context_groups_, layout);
}

/// A score beside those of the keys takes a part of the softmax and adds nothing (attention sink).
void CoreAttention::make_sink(const Builder& builder) {
  using Sink = ops::AttentionSettings::Sink;
  const config::ModelConfig& config = builder.config();
  if (config.attention_sink == config::AttentionSink::zero) {
    settings_.sink = Sink::zero;
  } else if (config.attention_sink == config::AttentionSink::learned) {
    const Index heads = config.num_attention_heads;
    settings_.sink = Sink::learned;
    settings_.sink_logits = &builder.parameter(
        "softmax_offset", {heads}, builder.piece(0, heads),
        {.kind = autograd::Initialization::Kind::normal, .std = config.init_method_std});
  }
}

void CoreAttention::tell_largest(autograd::Context& context, const autograd::Var& qkv,
                                 const ops::AttentionSettings& settings) const {
  if (!tells_largest_ || !context.recording() || context.recorder.auxiliary.sums == nullptr) {
    return;
  }
  const tensor::Tensor own = tensor::to_host(
      context.device, ops::largest_scores(context, qkv.value, settings, context_groups_.all.get()));
  std::vector<double> row(static_cast<std::size_t>(heads_), std::numeric_limits<double>::lowest());
  std::ranges::copy(std::span(own.data<float>(), static_cast<std::size_t>(own.numel())),
                    row.begin() + first_head_);
  context.recorder.auxiliary.sums->raise("attention logit", layer_number_, row);
}

autograd::Var CoreAttention::forward(autograd::Context& context, const autograd::Recomputable& qkv,
                                     const LayerInputs& inputs) const {
  ops::AttentionSettings settings = settings_;
  settings.mask = inputs.attention_mask;
  settings.seen_until = inputs.seen_until;
  settings.bias = inputs.score_bias;
  settings.first_head = first_head_;
  if (context.cached != nullptr && !context.cached->encodes) {
    return ops::cached_attention(context, qkv.var, settings, static_cast<Index>(layer_number_),
                                 *context_groups_.all);
  }
  settings.dropout =
      ops::dropout_mask(context, dropout_, layer_number_,
                        static_cast<std::uint32_t>(DropoutSite::attention_probabilities));
  settings.dropout.index.column_offset = first_head_;
  MPITRON_CHECK(!settings.seen_until || (ranks().size() == 1 && settings.chunk == 0), heads_);
  tell_largest(context, qkv.var, settings);
  return ops::context_attention(context, qkv, settings, exchange_, context_groups_);
}

}  // namespace mpitron::nn
