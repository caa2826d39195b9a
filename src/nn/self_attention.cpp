#include "nn/self_attention.h"

#include "ops/parallel_linear.h"
#include "ops/qk_norm.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Var;

namespace {

ops::QkvShare share_of(const config::ModelConfig& config, const ops::TensorParallel& shared) {
  return ops::qkv_share({config.num_attention_heads, config.num_query_groups, config.kv_channels},
                        shared);
}

/// A depth of multi-token prediction does as the first layer: the reference's has its number
/// (MultiTokenPredictionLayer gives its transformer layer none).
bool rotates(const config::ModelConfig& config, Index layer_number) {
  return config.rotates(layer_number <= config.num_layers ? layer_number : 1);
}

}  // namespace

SelfAttention::SelfAttention(const Builder& builder, Index layer_number, bool causal)
    : shared_(builder.tensor_parallel()),
      share_(share_of(builder.config(), shared_)),
      core_(builder, layer_number, share_.local, builder.config().softmax_scale, causal),
      rotates_(rotates(builder.config(), layer_number)) {
  const config::ModelConfig& config = builder.config();
  const Index h = config.hidden_size, projection = config.num_attention_heads * config.kv_channels;
  const Index width =
      (config.num_attention_heads + 2 * config.num_query_groups) * config.kv_channels;
  proj_weight_ = &builder.output_weight("linear_proj.weight", h, projection);
  proj_bias_ = builder.output_bias("linear_proj.bias", h, config.add_bias_linear);
  qkv_weight_ = &builder.linear_weight("linear_qkv.weight", width, h, share_.rows);
  qkv_bias_ = builder.bias("linear_qkv.bias", width, config.add_qkv_bias, share_.rows);
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
  return query_norm_ ? ops::qk_norm(context, qkv, share_.local, *query_norm_, *key_norm_) : qkv;
}

BranchOutput SelfAttention::forward(Context& context, const autograd::Renewable& x,
                                    const LayerInputs& inputs) const {
  Var qkv = ops::column_parallel_linear(context, x, *qkv_weight_, qkv_bias_, shared_);
  qkv = normed_queries_and_keys(context, ops::join_keys_values(context, qkv, share_, shared_));
  if (inputs.rotary && rotates_) {
    qkv = ops::rotary(context, qkv, share_.local, *inputs.rotary);
  }
  const Var attended = core_.forward(context, qkv, inputs);
  return {ops::row_parallel_linear(context, attended, *proj_weight_, shared_), proj_bias_};
}

}  // namespace mpitron::nn
