#pragma once
#include <algorithm>
#include <vector>

#include "support/golden_tables.h"
#include "train/model/model_dimensions.h"

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

inline train::ExpertDimensions golden_experts(const GoldenArguments& args) {
  const Index layers = args.number("num_layers");
  const nlohmann::json& frequency = args.at("moe_layer_freq");
  std::vector<bool> moe;
  for (Index i = 0; i < layers; ++i) {
    moe.push_back(frequency.is_array() ? frequency.at(static_cast<std::size_t>(i)) == 1
                                       : i % frequency.get<Index>() == 0);
  }
  return {
      .num_experts = args.number("num_experts"),
      .num_moe_layers = std::count(moe.begin(), moe.end(), true),
      .last_layer_is_moe = moe.back(),
      .moe_router_topk = args.number("moe_router_topk"),
      .moe_ffn_hidden_size = args.number_or("moe_ffn_hidden_size", args.number("ffn_hidden_size")),
      .moe_shared_expert_intermediate_size =
          args.number_or("moe_shared_expert_intermediate_size", 0)};
}

inline train::ModelDimensions golden_dimensions(const GoldenArguments& args) {
  train::ModelDimensions model{
      .num_layers = args.number("num_layers"),
      .hidden_size = args.number("hidden_size"),
      .num_attention_heads = args.number("num_attention_heads"),
      .num_query_groups = args.flag("group_query_attention") ? args.number("num_query_groups")
                                                             : args.number("num_attention_heads"),
      .kv_channels = args.number("kv_channels"),
      .ffn_hidden_size = args.number("ffn_hidden_size"),
      .seq_length = args.number("seq_length"),
      .padded_vocab_size = args.number("padded_vocab_size"),
      .swiglu = args.flag("swiglu"),
      .untie_embeddings_and_output_weights = args.flag("untie_embeddings_and_output_weights"),
      .mtp_num_layers = args.number_or("mtp_num_layers", 0)};
  if (!args.at("num_experts").is_null()) {
    model.experts = golden_experts(args);
  }
  if (args.flag("multi_latent_attention")) {
    model.latent_attention = {.q_lora_rank = args.optional("q_lora_rank"),
                              .kv_lora_rank = args.number("kv_lora_rank"),
                              .qk_head_dim = args.number("qk_head_dim"),
                              .qk_pos_emb_head_dim = args.number("qk_pos_emb_head_dim"),
                              .v_head_dim = args.number("v_head_dim")};
  }
  return model;
}

}  // namespace mpitron::test
