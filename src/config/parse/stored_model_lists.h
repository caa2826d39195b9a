#pragma once
#include <array>
#include <string_view>

#include "config/values/option_table.h"

namespace mpitron::config {

/// Groups of options that say what a model is made of.
inline constexpr std::array kStoredGroups = std::to_array<std::string_view>(
    {"network size", "regularization", "initialization", "mixed precision", "moe", "mla", "vision",
     "vision-language", kLaterReleasesGroup});
/// Options of other groups that do so, too.
inline constexpr std::array kStoredOthers =
    std::to_array<std::string_view>({"model",
                                     "seq_length",
                                     "decoder_seq_length",
                                     "add_bias_linear",
                                     "add_qkv_bias",
                                     "bias_gelu_fusion",
                                     "drop_path_rate",
                                     "rope_type",
                                     "class_token_length",
                                     "class_head",
                                     "is_hybrid_model",
                                     "hybrid_attention_ratio",
                                     "hybrid_mlp_ratio",
                                     "hybrid_override_pattern",
                                     "mamba_state_dim",
                                     "mamba_head_dim",
                                     "mamba_num_groups",
                                     "mamba_num_heads",
                                     "vocab_size",
                                     "padded_vocab_size",
                                     "tokenizer_type"});
/// Options of the tokenizer whose ids the model reads, beside its type and number of ids.
inline constexpr std::array kStoredTokenizer = std::to_array<std::string_view>(
    {"vocab_file", "merge_file", "tokenizer_model", "vocab_extra_ids", "tiktoken_pattern",
     "tiktoken_num_special_tokens", "tiktoken_special_tokens", "sft_tokenizer_prompt_format"});
/// Options of these groups on how a run computes and what it watches; the reference stores kernels
/// by numbers of its own.
inline constexpr std::array kStoredUnread = std::to_array<std::string_view>(
    {"attention_backend", "cache_mla_latents", "moe_enable_deepep", "moe_deepep_num_sms", "qk_clip",
     "log_max_attention_logit", "reuse_grad_buf_for_mxfp8_param_ag"});

/// Rules that numbers of a foreign or damaged file may break and whose breach would not be told
/// where the tensors are read.
inline constexpr std::array kStoredRules =
    std::to_array<std::string_view>({"heads_per_group",
                                     "rotary_dimensions",
                                     "rotary_factors",
                                     "layers_without_rotation",
                                     "axes_of_rotation",
                                     "pooled_patches",
                                     "small_constants",
                                     "latent_sizes",
                                     "prediction_depths",
                                     "expert_sizes",
                                     "expert_layers",
                                     "router_topk",
                                     "router_groups",
                                     "window_pair",
                                     "window_layers",
                                     "gate_limits",
                                     "shared_expert_gate",
                                     "mup_sizes",
                                     "pattern_letters",
                                     "mamba_heads",
                                     "delta_heads",
                                     "letters_of_experts",
                                     "one_attention",
                                     "pattern_depths",
                                     "norms_behind_branches",
                                     "rotary_base_of_windows",
                                     "scale_of_scores",
                                     "bounds_of_logits",
                                     "parts_of_rotating_layers",
                                     "chunks_of_attention",
                                     "scales_of_queries"});

}  // namespace mpitron::config
