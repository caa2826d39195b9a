#pragma once

#include <array>

// Options of a run by what they decide for its checkpoints.

namespace mpitron::config {

/// Options that decide names and shapes of tensors.
inline constexpr std::array kShapes =
    std::to_array<const char*>({"num_layers",
                                "hidden_size",
                                "ffn_hidden_size",
                                "num_attention_heads",
                                "group_query_attention",
                                "num_query_groups",
                                "kv_channels",
                                "position_embedding_type",
                                "add_position_embedding",
                                "relative_attention_num_buckets",
                                "add_bias_linear",
                                "add_qkv_bias",
                                "swiglu",
                                "untie_embeddings_and_output_weights",
                                "normalization",
                                "qk_layernorm",
                                "num_experts",
                                "moe_layer_freq",
                                "moe_ffn_hidden_size",
                                "moe_shared_expert_intermediate_size",
                                "post_self_attn_layernorm",
                                "post_mlp_layernorm",
                                "multi_latent_attention",
                                "q_lora_rank",
                                "kv_lora_rank",
                                "qk_head_dim",
                                "qk_pos_emb_head_dim",
                                "v_head_dim",
                                "dsa_indexer_n_heads",
                                "dsa_indexer_head_dim",
                                "mtp_num_layers"});

/// Options that decide what a model computes with its tensors.
inline constexpr std::array kMeanings =
    std::to_array<const char*>({"seq_length",
                                "max_position_embeddings",
                                "use_rotary_position_embeddings",
                                "relative_attention_max_distance",
                                "rotary_base",
                                "rotary_percent",
                                "rotary_interleaved",
                                "use_rope_scaling",
                                "rope_scaling_factor",
                                "rope_scaling_high_freq_factor",
                                "rope_type",
                                "rotary_scaling_factor",
                                "mscale",
                                "mscale_all_dim",
                                "yarn_correction_range_round_to_int",
                                "mtp_loss_scaling_factor",
                                "squared_relu",
                                "openai_gelu",
                                "bias_gelu_fusion",
                                "apply_layernorm_1p",
                                "norm_epsilon",
                                "apply_query_key_layer_scaling",
                                "attention_dropout",
                                "hidden_dropout",
                                "moe_router_topk",
                                "moe_router_pre_softmax",
                                "moe_router_score_function",
                                "moe_router_num_groups",
                                "moe_router_group_topk",
                                "moe_router_topk_scaling_factor",
                                "moe_router_enable_expert_bias",
                                "moe_shared_expert_gate",
                                "hybrid_layer_pattern",
                                "hybrid_override_pattern",
                                "hybrid_attention_ratio",
                                "hybrid_mlp_ratio",
                                "is_hybrid_model",
                                "mamba_state_dim",
                                "mamba_head_dim",
                                "mamba_num_groups",
                                "mamba_num_heads",
                                "experimental_attention_variant",
                                "dsa_indexer_topk",
                                "dsa_indexer_rope_interleaved",
                                "dsa_indexer_rotate_activation",
                                "dsa_indexer_k_norm_epsilon",
                                "linear_attention_freq",
                                "linear_conv_kernel_dim",
                                "linear_key_head_dim",
                                "linear_value_head_dim",
                                "linear_num_key_heads",
                                "linear_num_value_heads",
                                "attention_output_gate",
                                "softmax_type",
                                "window_size",
                                "window_attn_skip_freq",
                                "quick_geglu",
                                "geglu",
                                "scale_embeddings",
                                "qk_l2_norm",
                                "qk_l2_norm_with_rope_only",
                                "no_rope_freq",
                                "rotary_seq_len_interpolation_factor",
                                "moe_apply_probs_on_input",
                                "rotary_base_local",
                                "query_pre_attn_scalar",
                                "attn_logit_softcapping",
                                "final_logit_softcapping",
                                "activation_func_clamp_value",
                                "glu_linear_offset",
                                "attention_chunk_size",
                                "query_scale_floor",
                                "query_scale_growth",
                                "mrope_section",
                                "img_h",
                                "img_w",
                                "patch_dim",
                                "class_token_length",
                                "class_head",
                                "num_classes",
                                "make_vocab_size_divisible_by",
                                "vocab_size"});

/// Options of what sees in a model of images in text; of other models a checkpoint may have them
/// without a meaning.
inline constexpr std::array kImagesInText = std::to_array<const char*>(
    {"vision_model_type", "encoder_num_layers", "vision_hidden_size", "vision_num_attention_heads",
     "vision_kv_channels", "vision_ffn_hidden_size", "vision_activation", "vision_norm_epsilon",
     "vision_projection_type", "vision_projection_ffn_hidden_size", "mm_tokens_per_image",
     "bidirectional_image_attention", "disable_vision_class_token", "pixel_shuffle",
     "image_tag_type"});

/// Options of those, and of later releases, that no run may change unasked: the weights were
/// trained with another function.
inline constexpr std::array kFunction =
    std::to_array<const char*>({"rotary_base",
                                "mrope_section",
                                "rotary_percent",
                                "rotary_interleaved",
                                "use_rope_scaling",
                                "rope_scaling_factor",
                                "rope_scaling_high_freq_factor",
                                "rope_type",
                                "rotary_scaling_factor",
                                "rotary_seq_len_interpolation_factor",
                                "no_rope_freq",
                                "mscale",
                                "mscale_all_dim",
                                "yarn_correction_range_round_to_int",
                                "relative_attention_max_distance",
                                "squared_relu",
                                "openai_gelu",
                                "bias_gelu_fusion",
                                "quick_geglu",
                                "geglu",
                                "scale_embeddings",
                                "qk_l2_norm",
                                "qk_l2_norm_with_rope_only",
                                "moe_apply_probs_on_input",
                                "rotary_base_local",
                                "query_pre_attn_scalar",
                                "attn_logit_softcapping",
                                "final_logit_softcapping",
                                "activation_func_clamp_value",
                                "glu_linear_offset",
                                "attention_chunk_size",
                                "query_scale_floor",
                                "query_scale_growth",
                                "apply_layernorm_1p",
                                "norm_epsilon",
                                "moe_router_topk",
                                "moe_router_pre_softmax",
                                "moe_router_score_function",
                                "moe_router_num_groups",
                                "moe_router_group_topk",
                                "moe_router_topk_scaling_factor",
                                "softmax_type",
                                "window_size",
                                "window_attn_skip_freq"});

/// Options that may differ whenever a run goes on: places and ports.
inline constexpr std::array kFolders = std::to_array<const char*>(
    {"load", "save", "tensorboard_dir", "data_cache_path", "profile_dir", "tuning_file", "yaml_cfg",
     "pretrained_checkpoint", "non_persistent_local_ckpt_dir", "non_persistent_global_ckpt_dir",
     "ckpt_convert_save", "metrics_port", "metrics_address", "plan_file"});

inline constexpr std::array kLayout = std::to_array<const char*>(
    {"tensor_model_parallel_size", "pipeline_model_parallel_size",
     "num_layers_per_virtual_pipeline_stage", "num_virtual_stages_per_pipeline_rank",
     "context_parallel_size", "expert_model_parallel_size"});

inline constexpr std::array kTokenizer =
    std::to_array<const char*>({"tokenizer_type", "tokenizer_model", "tiktoken_pattern",
                                "tiktoken_num_special_tokens", "tiktoken_special_tokens"});

/// Files of a tokenizer that may lie elsewhere today.
inline constexpr std::array kTokenizerFiles =
    std::to_array<const char*>({"vocab_file", "merge_file"});

inline constexpr std::array kVocabulary = std::to_array<const char*>(
    {"tokenizer_type", "vocab_size", "vocab_extra_ids", "tiktoken_num_special_tokens"});

}  // namespace mpitron::config
