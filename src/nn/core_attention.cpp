#include "nn/core_attention.h"

#include "nn/branch.h"
#include "ops/bias_dropout_add.h"

namespace mpitron::nn {

CoreAttention::CoreAttention(const Builder& builder, Index layer_number,
                             const ops::QkvLayout& layout, double scale, bool causal)
    : exchange_(builder.groups().exchange_of(layer_number)),
      context_groups_{builder.groups().context, builder.groups().context_levels},
      dropout_(builder.config().attention_dropout),
      layer_number_(static_cast<std::uint32_t>(layer_number)),
      first_head_(builder.tensor_parallel().rank() * layout.heads) {
  const config::ModelConfig& config = builder.config();
  settings_.layout = layout;
  settings_.scale = static_cast<float>(scale);
  settings_.causal = causal;
  settings_.window = config.window_size ? (*config.window_size)[0] : -1;
  ops::check_context_exchange(exchange_, context_groups_, layout);
}

autograd::Var CoreAttention::forward(autograd::Context& context, const autograd::Renewable& qkv,
                                     const LayerInputs& inputs) const {
  ops::AttentionSettings settings = settings_;
  settings.mask = inputs.attention_mask;
  settings.bias = inputs.relative_bias;
  settings.first_head = first_head_;
  settings.dropout =
      ops::dropout_mask(context, dropout_, layer_number_,
                        static_cast<std::uint32_t>(DropoutSite::attention_probabilities));
  settings.dropout.index.column_offset = first_head_;
  return ops::context_attention(context, qkv, settings, exchange_, context_groups_);
}

}  // namespace mpitron::nn
