#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "config/sources/yaml_file.h"

// Names in YAML files: this program's option names, the reference's stored names, and the field
// names of the reference's own YAML files, with their spellings of activations and booleans.

namespace mpitron::config {
namespace {

using enum YamlName::Meaning;

/// Names from megatron/training/yaml_arguments.py and examples/gpt3/gpt_config.yaml of
/// Megatron-Core 0.14.
constexpr std::array kNames = std::to_array<YamlName>({
    {"layernorm_epsilon", other_name, "norm_epsilon"},
    {"layernorm_zero_centered_gamma", other_name, "apply_layernorm_1p"},
    {"num_moe_experts", other_name, "num_experts"},
    {"activation_func", activation, ""},
    {"init_method", initial, "init_method_xavier_uniform"},
    {"embedding_init_method", must_be_off, "embedding_init_method_std"},
    {"output_layer_init_method", must_be_off, ""},
    {"moe_token_dropping", must_be_off, "moe_expert_capacity_factor"},
    {"cpu_offloading", must_be_off, "cpu_offloading_num_layers"},
    {"variable_seq_lengths", must_be_off, ""},
    {"enable_autocast", must_be_off, ""},
    {"num_microbatches_with_partial_activation_checkpoints", must_be_off, "recompute_granularity"},
    // Set by the reference from other names.
    {"virtual_pipeline_model_parallel_size", without_use, ""},
    {"params_dtype", without_use, ""},
    {"pipeline_dtype", without_use, ""},
    {"autocast_dtype", without_use, ""},
    {"gated_linear_unit", without_use, ""},
    {"deallocate_pipeline_outputs", without_use, ""},
    {"batch_p2p_comm", without_use, ""},
    {"timers", without_use, ""},
    {"finalize_model_grads_func", without_use, ""},
    {"grad_scale_func", without_use, ""},
    {"no_sync_func", without_use, ""},
    {"grad_sync_func", without_use, ""},
    {"param_sync_func", without_use, ""},
    {"_cpu_offloading_context", without_use, ""},
    // Choices of kernels and of the order of messages.
    {"bias_activation_fusion", without_use, ""},
    {"persist_layer_norm", without_use, ""},
    {"memory_efficient_layer_norm", without_use, ""},
    {"batch_p2p_sync", without_use, ""},
    {"tp_comm_atomic_ag", without_use, ""},
    {"tp_comm_atomic_rs", without_use, ""},
    // Parts of cpu_offloading.
    {"cpu_offloading_weights", without_use, ""},
    {"cpu_offloading_activations", without_use, ""},
});

std::string lower_case(std::string_view word) {
  std::string out(word);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace

std::optional<YamlName> yaml_name(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &YamlName::name);
  return found == kNames.end() ? std::nullopt : std::optional(*found);
}

/// Maps names of functions in the reference's YAML.
std::optional<std::string_view> flag_of_activation(std::string_view word) {
  if (word == "swiglu") {
    return "swiglu";
  }
  if (word == "squaredrelu") {
    return "squared_relu";
  }
  return word == "gelu" ? std::optional<std::string_view>("") : std::nullopt;
}

/// Reads YAML 1.1's words, which the reference's loader takes.
std::optional<bool> yaml_boolean(std::string_view word) {
  const std::string lower = lower_case(word);
  if (lower == "true" || lower == "yes" || lower == "on") {
    return true;
  }
  return lower == "false" || lower == "no" || lower == "off" ? std::optional(false) : std::nullopt;
}

}  // namespace mpitron::config
