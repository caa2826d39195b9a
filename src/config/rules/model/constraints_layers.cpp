#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules of layers: activations, norms and probabilities, latent attention and multi-token
// prediction.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result latent_attention_alone(const Facts& f) {
  if (!f.run.model.multi_latent_attention) {
    return {};
  }
  // Derived values of a checkpoint's configuration, such as the width of heads, are no wish.
  const ModelConfig& m = f.run.model;
  const Index width = m.num_attention_heads > 0 ? m.hidden_size / m.num_attention_heads : 0;
  const std::pair<bool, const char*> wishes[] = {
      {m.group_query_attention, "--group-query-attention"},
      {m.qk_l2_norm, "--qk-l2-norm"},
      {m.rotary_interleaved, "--rotary-interleaved"},
      {f.values.given("kv_channels") && m.kv_channels != width, "--kv-channels"},
      {m.add_qkv_bias && !m.add_bias_linear, "--add-qkv-bias"},
      {m.use_rope_scaling, "--use-rope-scaling"},
      {m.rope_type == RopeType::yarn && m.rotary_percent != 1, "--rotary-percent"}};
  std::vector<std::string> senseless;
  for (const auto& [given, name] : wishes) {
    if (given) {
      senseless.emplace_back(name);
    }
  }
  return senseless.empty() ? Result()
                           : Violation{fmt::format("given: {}", fmt::join(senseless, ", ")),
                                       "--qk-head-dim, --qk-pos-emb-head-dim and --v-head-dim, "
                                       "--rope-type and --rotary-scaling-factor instead of them"};
}

Result latent_sizes(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.multi_latent_attention) {
    return {};
  }
  std::vector<std::string> bad;
  const auto check = [&](const char* option, Index size, Index least) {
    if (size < least) {
      bad.push_back(fmt::format("--{} {} < {}", option, size, least));
    }
  };
  check("q-lora-rank", m.q_lora_rank.value_or(1), 1);
  check("kv-lora-rank", m.kv_lora_rank, 1);
  check("qk-head-dim", m.qk_head_dim, 1);
  check("qk-pos-emb-head-dim", m.qk_pos_emb_head_dim, 2);
  check("v-head-dim", m.v_head_dim, 1);
  return bad.empty() ? Result()
                     : Violation{fmt::format("{}", fmt::join(bad, ", ")),
                                 "--qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128"};
}

Result recomputed_up_projections(const Facts& f) {
  return f.run.model.recomputes(RecomputeModule::mla_up_proj) && !f.run.model.multi_latent_attention
             ? Violation{"there are no up projections", "--multi-latent-attention"}
             : Result();
}

Result prediction_positions(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const bool relative = m.position_embedding_type == PositionEmbedding::rope ||
                        m.position_embedding_type == PositionEmbedding::none;
  return m.mtp_num_layers.value_or(0) > 0 && !relative
             ? Violation{"--position-embedding-type " + f.values.text("position_embedding_type"),
                         "--position-embedding-type rope"}
             : Result();
}

Result prediction_depths(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const Index depths = m.mtp_num_layers.value_or(0);
  if (depths >= 0 && depths < std::max<Index>(m.seq_length, 2) && m.mtp_loss_scaling_factor >= 0) {
    return {};
  }
  return Violation{fmt::format("{} depths, {} positions, factor {}", depths, m.seq_length,
                               m.mtp_loss_scaling_factor),
                   "--mtp-num-layers 1 --mtp-loss-scaling-factor 0.1"};
}

Result one_activation(const Facts& f) {
  const int count =
      f.values.flag("swiglu") + f.values.flag("squared_relu") + f.values.flag("openai_gelu");
  return count > 1 ? Violation{fmt::format("{} of them are given", count), "--swiglu"} : Result();
}

Result one_head_norm(const Facts& f) {
  return f.run.model.qk_layernorm && f.run.model.qk_l2_norm
             ? Violation{"both are given", "--qk-layernorm"}
             : Result();
}

Result probabilities(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const auto legal = [](double p) { return p >= 0 && p < 1; };
  if (legal(m.attention_dropout) && legal(m.hidden_dropout)) {
    return {};
  }
  return Violation{fmt::format("attention {}, hidden {}", m.attention_dropout, m.hidden_dropout),
                   ""};
}

Result small_constants(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.norm_epsilon > 0 && m.init_method_std >= 0 &&
      m.embedding_init_method_std.value_or(0) >= 0) {
    return {};
  }
  return Violation{fmt::format("{}, {}, {}", m.norm_epsilon, m.init_method_std,
                               m.embedding_init_method_std.value_or(0)),
                   ""};
}

constexpr std::array kLayerRules = std::to_array<Constraint>({
    {"E148", "latent_attention_alone",
     "--multi-latent-attention excludes options of other attention",
     "multi-latent-attention group-query-attention qk-l2-norm rotary-interleaved kv-channels "
     "add-qkv-bias use-rope-scaling rotary-percent",
     "Every head has its key and value, made from latents without biases; pairs of rotary "
     "components are neighbours already. YaRN alone stretches positions, and turns all "
     "components: the reference would ignore what says otherwise.",
     latent_attention_alone},
    {"E149", "latent_sizes", "ranks and parts of heads are at least 1, the rotary part 2",
     "q-lora-rank kv-lora-rank qk-head-dim qk-pos-emb-head-dim v-head-dim",
     "Queries and keys have a part without positions and a part that rotates in pairs.",
     latent_sizes},
    {"E150", "recomputed_up_projections",
     "--recompute-modules mla_up_proj needs --multi-latent-attention",
     "recompute-modules multi-latent-attention",
     "It drops what latent attention makes of its latents.", recomputed_up_projections},
    {"E151", "prediction_positions",
     "--mtp-num-layers needs --position-embedding-type rope or none",
     "mtp-num-layers position-embedding-type",
     "Tokens of later depths are embedded at the positions of earlier ones.", prediction_positions},
    {"E152", "prediction_depths", "0 <= mtp_num_layers < seq_length, mtp_loss_scaling_factor >= 0",
     "mtp-num-layers mtp-loss-scaling-factor seq-length",
     "Each depth predicts one token further; a sequence has to hold it.", prediction_depths},
    {"E018", "one_activation", "at most one of --swiglu, --squared-relu, --openai-gelu",
     "swiglu squared-relu openai-gelu", "The MLP has one activation.", one_activation},
    {"E023", "one_head_norm", "--qk-layernorm or --qk-l2-norm, not both", "qk-layernorm qk-l2-norm",
     "Queries and keys pass one norm before positions are applied.", one_head_norm},
    {"E024", "probabilities", "0 <= dropout < 1", "attention-dropout hidden-dropout",
     "What is kept is divided by 1 - p.", probabilities},
    {"E025", "small_constants", "norm_epsilon > 0, standard deviations >= 0",
     "norm-epsilon init-method-std embedding-init-method-std", "A constant row has variance zero.",
     small_constants},
});

}  // namespace

std::span<const Constraint> layer_constraints() {
  return kLayerRules;
}

}  // namespace mpitron::config
