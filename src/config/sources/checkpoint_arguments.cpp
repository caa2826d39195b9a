#include "config/sources/checkpoint_arguments.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "utils/text/json_nesting.h"

// Options that a checkpoint carries: those that --use-checkpoint-args adopts, and those in which a
// run may not differ from what it loads. The lists follow load_args_from_checkpoint of the
// reference.

namespace mpitron::config {
namespace {

using Json = nlohmann::json;

/// Options that decide names and shapes of tensors.
constexpr std::array kShapes = std::to_array<const char*>({"num_layers",
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
                                                           "mtp_num_layers"});

/// Options that decide what a model computes with its tensors.
constexpr std::array kMeanings = std::to_array<const char*>({"seq_length",
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
                                                             "moe_apply_probs_on_input",
                                                             "rotary_base_local",
                                                             "query_pre_attn_scalar",
                                                             "attn_logit_softcapping",
                                                             "final_logit_softcapping",
                                                             "activation_func_clamp_value",
                                                             "glu_linear_offset",
                                                             "img_h",
                                                             "img_w",
                                                             "patch_dim",
                                                             "class_token_length",
                                                             "class_head",
                                                             "num_classes",
                                                             "make_vocab_size_divisible_by",
                                                             "vocab_size"});

/// Options of those, and of later releases, that no run may change unasked: the weights were
/// trained with another function.
constexpr std::array kFunction = std::to_array<const char*>({"rotary_base",
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
constexpr std::array kFolders = std::to_array<const char*>(
    {"load", "save", "tensorboard_dir", "data_cache_path", "profile_dir", "tuning_file", "yaml_cfg",
     "pretrained_checkpoint", "non_persistent_local_ckpt_dir", "non_persistent_global_ckpt_dir",
     "ckpt_convert_save", "metrics_port", "metrics_address", "plan_file"});

constexpr std::array kLayout = std::to_array<const char*>(
    {"tensor_model_parallel_size", "pipeline_model_parallel_size",
     "num_layers_per_virtual_pipeline_stage", "num_virtual_stages_per_pipeline_rank",
     "context_parallel_size", "expert_model_parallel_size"});

constexpr std::array kTokenizer = std::to_array<const char*>(
    {"tokenizer_type", "tokenizer_model", "vocab_file", "merge_file", "tiktoken_pattern",
     "tiktoken_num_special_tokens", "tiktoken_special_tokens"});

constexpr std::array kVocabulary = std::to_array<const char*>(
    {"tokenizer_type", "vocab_size", "vocab_extra_ids", "tiktoken_num_special_tokens"});

constexpr std::array kStateTypes =
    std::to_array<const char*>({"main_params_dtype", "exp_avg_dtype", "exp_avg_sq_dtype"});

/// Returns the options of a checkpoint; a value that is no object where the text is none.
Json parse(const std::string& configuration) {
  return nests_too_deep(configuration) ? Json() : Json::parse(configuration, nullptr, false);
}

std::string word(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns a list as its words, a single value as one.
std::vector<std::string> words(const Json& value) {
  std::vector<std::string> out;
  if (value.is_array()) {
    for (const Json& item : value) {
      out.push_back(word(item));
    }
  } else {
    out.push_back(word(value));
  }
  return out;
}

/// Takes options of a checkpoint over into a run's values, with a notice for each that the user
/// gave otherwise.
class Adoption {
 public:
  Adoption(const CheckpointArguments& checkpoint, const Json& saved, OptionValues& values,
           Reading& report)
      : checkpoint_(checkpoint), saved_(saved), values_(values), report_(report) {}

  /// Takes those of `dests` that the checkpoint has, over what the command line says.
  void take(std::span<const char* const> dests) {
    for (const char* dest : dests) {
      const std::size_t slot = option_index().slot_of_dest(dest);
      const auto found = saved_.find(dest);
      if (slot == OptionIndex::kNotFound || found == saved_.end() || found->is_null()) {
        continue;
      }
      std::vector<std::string> taken = words(*found);
      if (values_.words(dest) == taken) {
        continue;  // a default stays one: options of other models do not count as given
      }
      if (values_.given(dest)) {
        report_.notices.push_back(fmt::format("--{}: {} of the checkpoint is used",
                                              option_index().option(slot).name, word(*found)));
      }
      values_.set(slot, std::move(taken), {Origin::Source::yaml, checkpoint_.path});
    }
  }

 private:
  const CheckpointArguments& checkpoint_;
  const Json& saved_;
  OptionValues& values_;
  Reading& report_;
};

/// Lists the options of which two configurations have different values; options that one of them
/// lacks count as equal, since older checkpoints lack newer options.
std::string differences(std::span<const char* const> dests,
                        const std::string& checkpoint_configuration,
                        const std::string& configuration) {
  const Json theirs = parse(checkpoint_configuration);
  const Json ours = parse(configuration);
  std::string text;
  if (!theirs.is_object() || !ours.is_object()) {
    return text;
  }
  for (const char* dest : dests) {
    if (theirs.contains(dest) && ours.contains(dest) && theirs[dest] != ours[dest]) {
      text += fmt::format("{}{} {}, here {}", text.empty() ? "" : "; ", dest, word(theirs[dest]),
                          word(ours[dest]));
    }
  }
  return text;
}

}  // namespace

/// Adopts the model's sizes and, with --use-mp-args-from-checkpoint-args, its layout.
void adopt_checkpoint_arguments(const CheckpointArguments& checkpoint, OptionValues& values,
                                Reading& report) {
  const Json saved = parse(checkpoint.configuration);
  if (!saved.is_object()) {
    report.findings.push_back(
        {ids::kFile,
         "configuration_file",
         fmt::format("{} holds no configuration that could be used.", checkpoint.path),
         "leave --use-checkpoint-args out and give the model's options",
         {"--use-checkpoint-args"}});
    return;
  }
  Adoption adoption(checkpoint, saved, values, report);
  adoption.take(kShapes);
  adoption.take(kMeanings);
  if (checkpoint.layout) {
    adoption.take(kLayout);
  }
  if (checkpoint.tokenizer) {
    adoption.take(kTokenizer);
  }
}

std::string model_differences(const std::string& checkpoint_configuration,
                              const std::string& configuration) {
  return differences(kShapes, checkpoint_configuration, configuration);
}

std::string function_differences(const std::string& checkpoint_configuration,
                                 const std::string& configuration) {
  return differences(kFunction, checkpoint_configuration, configuration);
}

/// Leaves out folders and ports, which may differ without a word.
std::string all_differences(const std::string& checkpoint_configuration,
                            const std::string& configuration) {
  std::vector<const char*> dests;
  for (std::size_t slot = 0; slot < option_index().size(); ++slot) {
    const std::string& dest = option_index().dest(slot);
    if (std::ranges::find(kFolders, dest) == kFolders.end()) {
      dests.push_back(dest.c_str());
    }
  }
  return differences(dests, checkpoint_configuration, configuration);
}

std::string vocabulary_differences(const std::string& checkpoint_configuration,
                                   const std::string& configuration) {
  return differences(kVocabulary, checkpoint_configuration, configuration);
}

std::string state_type_differences(const std::string& checkpoint_configuration,
                                   const std::string& configuration) {
  return differences(kStateTypes, checkpoint_configuration, configuration);
}

}  // namespace mpitron::config
