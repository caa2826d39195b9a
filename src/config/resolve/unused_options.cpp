#include "config/resolve/unused_options.h"

#include <array>

#include <fmt/format.h>

#include "config/resolve/derive.h"
#include "config/resolve/resolve.h"
#include "config/values/option_table.h"

// The table of options that count only beside another one.

namespace mpitron::config {
namespace {

/// Options, by their destinations, that have no effect unless `counts`, and what they need.
struct Partnership {
  std::string_view dests, partner;
  bool (*counts)(const OptionValues&);
};

/// A letter G, or the variant of a GPT.
bool has_delta_nets(const OptionValues& v) {
  return v.maybe_text("experimental_attention_variant").value_or("") == "gated_delta_net" ||
         has_letter(v, 'G');
}

bool uses_muon(const OptionValues& v) {
  return v.text("optimizer").ends_with("muon");
}

constexpr auto kPartnerships = std::to_array<Partnership>({
    {"recompute_method recompute_num_layers recompute_modules", "--recompute-granularity",
     [](const OptionValues& v) { return v.has("recompute_granularity"); }},
    {"moe_ffn_hidden_size moe_shared_expert_intermediate_size moe_layer_freq "
     "moe_router_load_balancing_type moe_router_score_function moe_router_topk "
     "moe_router_enable_expert_bias moe_aux_loss_coeff moe_z_loss_coeff "
     "moe_expert_capacity_factor moe_token_dispatcher_type moe_per_layer_logging",
     "--num-experts", [](const OptionValues& v) { return v.has("num_experts"); }},
    {"optimizer_offload_fraction overlap_cpu_optimizer_d2h_h2d pin_cpu_grads pin_cpu_params",
     "--optimizer-cpu-offload",
     [](const OptionValues& v) { return v.flag("optimizer_cpu_offload"); }},
    {"moe_upcycling_granularity", "--moe-use-upcycling",
     [](const OptionValues& v) { return v.flag("moe_use_upcycling"); }},
    {"rotary_percent rotary_interleaved use_rope_scaling no_rope_freq",
     "--position-embedding-type rope",
     [](const OptionValues& v) { return v.text("position_embedding_type") == "rope"; }},
    {"linear_conv_kernel_dim linear_key_head_dim linear_value_head_dim linear_num_key_heads "
     "linear_num_value_heads",
     "--experimental-attention-variant gated_delta_net or a letter G", has_delta_nets},
    {"dsa_indexer_n_heads dsa_indexer_head_dim dsa_indexer_topk dsa_indexer_loss_coeff "
     "dsa_indexer_use_sparse_loss dsa_indexer_rope_interleaved dsa_indexer_rotate_activation "
     "dsa_indexer_k_norm_epsilon",
     "--experimental-attention-variant dsa or a letter D", has_sparse_attention},
    {"muon_momentum muon_nesterov muon_split_qkv muon_num_ns_steps muon_coefficient_type "
     "muon_scale_mode muon_extra_scale_factor muon_fp32_matmul_prec muon_tp_mode "
     "muon_scalar_optimizer",
     "--optimizer muon", uses_muon},
    {"adaptive_muon_moment2_method adaptive_muon_beta2 adaptive_muon_eps",
     "--optimizer adaptive_muon",
     [](const OptionValues& v) { return v.text("optimizer") == "adaptive_muon"; }},
    {"soap_shampoo_beta soap_precondition_frequency soap_use_kl_shampoo", "--optimizer soap",
     [](const OptionValues& v) { return v.text("optimizer") == "soap"; }},
    {"lion_beta1 lion_beta2",
     "--optimizer muon --muon-scalar-optimizer lion (--optimizer lion takes Adam's betas, as the "
     "reference does)",
     [](const OptionValues& v) {
       return uses_muon(v) && v.text("muon_scalar_optimizer") == "lion";
     }},
    {"qk_clip_alpha qk_clip_threshold", "--qk-clip",
     [](const OptionValues& v) { return v.flag("qk_clip"); }},
    {"mup_base_hidden_size mup_embedding_mult mup_output_mult mup_base_head_dim "
     "mup_attn_scale_power",
     "--use-mup", [](const OptionValues& v) { return v.flag("use_mup"); }},
    {"fim_rate fim_spm_rate fim_split_sample fim_fragment_rate fim_no_prefix fim_prefix_token "
     "fim_middle_token fim_suffix_token fim_pad_token fim_eod_token",
     "--fim-data", [](const OptionValues& v) { return v.flag("fim_data"); }},
});

/// The option that a value came by.
std::string_view name_of_dest(std::string_view dest) {
  const OptionIndex& index = option_index();
  return index.option(index.slot_of_dest(dest)).name;
}

}  // namespace

void note_unused_options(const OptionValues& v, Reading& report) {
  if (v.given("save_interval") && !v.has("save")) {
    report.notices.push_back("--save-interval has no effect without --save: nothing is saved");
  }
  for (const Partnership& row : kPartnerships) {
    for (const std::string& dest : split_words(row.dests)) {
      if (v.given(dest) && !row.counts(v)) {
        report.notices.push_back(
            fmt::format("--{} has no effect without {}", name_of_dest(dest), row.partner));
      }
    }
  }
  if (v.given("loss_scale") && !scales_loss(v)) {
    report.notices.push_back(
        "--loss-scale has no effect in fp32 without --use-distributed-optimizer");
  }
  if (has_delta_nets(v) && v.text("normalization") == "LayerNorm") {
    report.notices.push_back(
        "--normalization LayerNorm: the norm behind a delta net divides by the root mean square "
        "all the same (the reference's takes the mean off, too)");
  }
}

}  // namespace mpitron::config
