#include "train/model/flops.h"

namespace mpitron::train {
namespace {

// Forward and two products of backward, two operations per multiply-add.
constexpr double kPerWeight = 3 * 2;

/// Operations per token of the self attention of one layer, forward only.
double attention_flops_per_token(const ModelDimensions& model) {
  const auto h = static_cast<double>(model.hidden_size);
  const auto n = static_cast<double>(model.num_attention_heads);
  const auto s = static_cast<double>(model.seq_length);
  if (model.latent_attention) {
    const LatentAttentionDimensions& mla = *model.latent_attention;
    const auto key_dim = static_cast<double>(mla.qk_head_dim + mla.qk_pos_emb_head_dim);
    const auto value_dim = static_cast<double>(mla.v_head_dim);
    return latent_attention_parameters(model) + s * n * key_dim / 2 + s * n * value_dim / 2;
  }
  const auto g = static_cast<double>(model.num_query_groups);
  return 2 * h * h * (1 + g / n + s / h / 2) * model.projection_ratio();
}

/// The same of a whole layer; of experts those that a token visits.
double layer_flops_per_token(const ModelDimensions& model, bool with_experts) {
  Index width = model.ffn_hidden_size;
  if (with_experts) {
    const ExpertDimensions& experts = *model.experts;
    width = experts.moe_ffn_hidden_size * experts.moe_router_topk +
            experts.moe_shared_expert_intermediate_size;
  }
  const double mlp = 2 * static_cast<double>(model.hidden_size * width) * model.gate_factor();
  return mlp + attention_flops_per_token(model);
}

double transformer_flops(const ModelDimensions& model, double tokens) {
  const auto h = static_cast<double>(model.hidden_size);
  const auto mtp = static_cast<double>(model.mtp_num_layers);
  const bool mtp_is_moe = model.experts && model.experts->last_layer_is_moe;
  const double moe_layers = static_cast<double>(model.moe_layers()) + (mtp_is_moe ? mtp : 0);
  const double dense_layers = static_cast<double>(model.dense_layers()) + (mtp_is_moe ? 0 : mtp);
  double layers = dense_layers * layer_flops_per_token(model, false);
  if (moe_layers > 0) {
    layers += moe_layers * layer_flops_per_token(model, true);
  }
  const double mtp_glue = mtp * (3 * h + 2 * h * h);
  const double logits = h * static_cast<double>(model.padded_vocab_size) * (mtp + 1);
  return tokens * kPerWeight * (layers + mtp_glue + logits);
}

}  // namespace

double flops_per_iteration(const ModelDimensions& model, Index batch_size) {
  const auto tokens = static_cast<double>(batch_size * model.seq_length);
  return transformer_flops(model, tokens);
}

double layer_flops_per_iteration(const ModelDimensions& model, bool experts, Index batch_size) {
  const auto tokens = static_cast<double>(batch_size * model.seq_length);
  return tokens * kPerWeight * layer_flops_per_token(model, experts);
}

double cross_attention_flops_per_iteration(const ModelDimensions& model, Index keys,
                                           Index batch_size) {
  const auto h = static_cast<double>(model.hidden_size);
  const double width = h * model.projection_ratio();
  const auto queries = static_cast<double>(model.seq_length), seen = static_cast<double>(keys);
  const double projections = 2 * h * width * (queries + seen);  // queries and output; keys, values
  const double products = 2 * queries * seen * width;           // scores, and values by them
  return static_cast<double>(batch_size) * kPerWeight * (projections + products);
}

double throughput_per_device(double flops, double seconds, Index world_size) {
  return flops / (seconds * 1e12 * static_cast<double>(world_size));
}

}  // namespace mpitron::train
