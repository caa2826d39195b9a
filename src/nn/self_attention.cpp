#include "nn/self_attention.h"

#include "ops/bias_dropout_add.h"
#include "ops/parallel_linear.h"
#include "ops/qk_norm.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;

SelfAttention::SelfAttention(const Builder& builder, Index layer_number, bool causal)
    : shared_(builder.tensor_parallel()),
      exchange_(builder.groups().exchange_of(layer_number)),
      context_groups_{builder.groups().context, builder.groups().context_levels},
      attention_dropout_(builder.config().attention_dropout),
      layer_number_(static_cast<std::uint32_t>(layer_number)) {
  const config::ModelConfig& config = builder.config();
  const Index h = config.hidden_size, projection = config.num_attention_heads * config.kv_channels;
  const ops::QkvLayout whole{config.num_attention_heads, config.num_query_groups,
                             config.kv_channels};
  share_ = ops::qkv_share(whole, shared_);
  settings_.layout = share_.local;
  ops::check_context_exchange(exchange_, context_groups_, settings_.layout);
  settings_.scale = static_cast<float>(config.softmax_scale);
  settings_.causal = causal;
  settings_.window = config.window_size ? (*config.window_size)[0] : -1;
  const auto layer = static_cast<std::size_t>(layer_number - 1);
  rotates_ = config.no_rope_layers.empty() || !config.no_rope_layers[layer];

  proj_weight_ = &builder.output_weight("linear_proj.weight", h, projection);
  proj_bias_ = builder.output_bias("linear_proj.bias", h, config.add_bias_linear);
  qkv_weight_ = &builder.linear_weight("linear_qkv.weight", whole.width(), h, share_.rows);
  qkv_bias_ = builder.bias("linear_qkv.bias", whole.width(), config.add_qkv_bias, share_.rows);
  make_norms(builder);
}

void SelfAttention::make_norms(const Builder& builder) {
  const config::ModelConfig& config = builder.config();
  if (config.qk_layernorm) {
    query_norm_ = Norm(builder, "q_layernorm", config.kv_channels).parameters();
    key_norm_ = Norm(builder, "k_layernorm", config.kv_channels).parameters();
    // Every rank norms its heads only.
    for (const ops::NormParameters* norm : {&*query_norm_, &*key_norm_}) {
      norm->gamma->sum_over_tensor = shared_.shared();
      if (norm->beta != nullptr) {
        norm->beta->sum_over_tensor = shared_.shared();
      }
    }
  } else if (config.qk_l2_norm) {
    query_norm_ = key_norm_ =
        ops::NormParameters{.eps = static_cast<float>(config.norm_epsilon), .rms = true};
  }
}

Var SelfAttention::normed_queries_and_keys(Context& context, Var qkv) const {
  return query_norm_ ? ops::qk_norm(context, qkv, settings_.layout, *query_norm_, *key_norm_) : qkv;
}

BranchOutput SelfAttention::forward(Context& context, const autograd::Renewable& x,
                                    const LayerInputs& inputs) const {
  Var qkv = ops::column_parallel_linear(context, x, *qkv_weight_, qkv_bias_, shared_);
  qkv = normed_queries_and_keys(context, ops::join_keys_values(context, qkv, share_, shared_));
  if (inputs.rotary && rotates_) {
    qkv = ops::rotary(context, qkv, settings_.layout, *inputs.rotary);
  }
  ops::AttentionSettings settings = settings_;
  settings.mask = inputs.attention_mask;
  settings.bias = inputs.relative_bias;
  settings.dropout =
      ops::dropout_mask(context, attention_dropout_, layer_number_,
                        static_cast<std::uint32_t>(DropoutSite::attention_probabilities));
  settings.first_head = shared_.rank() * settings.layout.heads;
  settings.dropout.index.column_offset = settings.first_head;
  const Var attended = ops::context_attention(context, qkv, settings, exchange_, context_groups_);
  return {ops::row_parallel_linear(context, attended, *proj_weight_, shared_), proj_bias_};
}

}  // namespace mpitron::nn
