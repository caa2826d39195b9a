#pragma once
#include <vector>

#include "config/layer_pattern.h"
#include "config/model_config.h"
#include "support/golden_tables.h"

namespace mpitron::test {

/// Reads the `args` of a case of tables.json (sections flops and theoretical_memory) over the
/// defaults of section flops; kv_channels is hidden / heads unless the case sets it.
class GoldenArguments {
 public:
  explicit GoldenArguments(const nlohmann::json& args)
      : all_(golden_table("flops").at("defaults")) {
    all_.update(args);
    if (!args.contains("kv_channels")) {
      all_["kv_channels"] = number("hidden_size") / number("num_attention_heads");
    }
  }
  Index number(const char* name) const { return all_.at(name).get<Index>(); }
  Index number_or(const char* name, Index fallback) const {
    return all_.at(name).is_null() ? fallback : number(name);
  }
  std::optional<Index> optional(const char* name) const {
    return all_.at(name).is_null() ? std::nullopt : std::optional(number(name));
  }
  bool flag(const char* name) const { return all_.at(name).get<bool>(); }
  const nlohmann::json& at(const char* name) const { return all_.at(name); }

 private:
  nlohmann::json all_;
};

inline config::MoeConfig golden_experts(const GoldenArguments& args) {
  config::MoeConfig moe{
      .num_experts = args.number("num_experts"),
      .ffn_hidden_size = args.number_or("moe_ffn_hidden_size", args.number("ffn_hidden_size")),
      .shared_expert_intermediate_size = args.number_or("moe_shared_expert_intermediate_size", 0)};
  moe.topk = args.number("moe_router_topk");
  const nlohmann::json& frequency = args.at("moe_layer_freq");
  for (Index i = 0; i < args.number("num_layers"); ++i) {
    moe.layers.push_back(frequency.is_array() ? frequency.at(static_cast<std::size_t>(i)) == 1
                                              : i % frequency.get<Index>() == 0);
  }
  return moe;
}

inline config::HybridConfig golden_hybrid(const GoldenArguments& args) {
  const auto ratio = [&](const char* name) { return args.at(name).get<double>(); };
  config::HybridConfig hybrid;
  hybrid.pattern =
      args.at("hybrid_override_pattern").is_null()
          ? config::pattern_of_ratios(args.number("num_layers"), ratio("hybrid_attention_ratio"),
                                      ratio("hybrid_mlp_ratio"))
          : args.at("hybrid_override_pattern").get<std::string>();
  const Index width = 2 * args.number("hidden_size"), head_dim = args.number("mamba_head_dim");
  hybrid.mamba = {.state_dim = args.number("mamba_state_dim"),
                  .head_dim = head_dim,
                  .groups = args.number("mamba_num_groups"),
                  .heads = args.number_or("mamba_num_heads", width / head_dim)};
  return hybrid;
}

inline config::ModelConfig golden_model(const GoldenArguments& args) {
  config::ModelConfig model;
  model.num_layers = args.number("num_layers");
  model.hidden_size = args.number("hidden_size");
  model.num_attention_heads = args.number("num_attention_heads");
  model.num_query_groups = args.flag("group_query_attention") ? args.number("num_query_groups")
                                                              : args.number("num_attention_heads");
  model.kv_channels = args.number("kv_channels");
  model.ffn_hidden_size = args.number("ffn_hidden_size");
  model.seq_length = args.number("seq_length");
  model.padded_vocab_size = args.number("padded_vocab_size");
  model.gated_linear_unit = args.flag("swiglu");
  model.untie_embeddings_and_output_weights = args.flag("untie_embeddings_and_output_weights");
  model.mtp_num_layers = args.number_or("mtp_num_layers", 0);
  if (!args.at("num_experts").is_null()) {
    model.moe = golden_experts(args);
  }
  model.multi_latent_attention = args.flag("multi_latent_attention");
  if (model.multi_latent_attention) {
    model.q_lora_rank = args.optional("q_lora_rank");
    model.kv_lora_rank = args.number("kv_lora_rank");
    model.qk_head_dim = args.number("qk_head_dim");
    model.qk_pos_emb_head_dim = args.number("qk_pos_emb_head_dim");
    model.v_head_dim = args.number("v_head_dim");
  }
  if (args.flag("is_hybrid_model")) {
    model.hybrid = golden_hybrid(args);
  }
  return model;
}

}  // namespace mpitron::test
