#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/arrays/safetensors.h"

namespace mpitron::io {

/// The settings of a LoRA adapter, as adapter_config.json of Hugging Face's PEFT has them.
struct PeftConfig {
  Index rank = 0;
  double alpha = 0;
  double dropout = 0;
  bool rank_stabilised = false;
  std::vector<std::string> target_modules;  // all-linear stands alone
  std::map<std::string, double> rank_pattern, alpha_pattern;
  std::string base_model;  // base_model_name_or_path
};

/// What PEFT puts in front of the base model's names of modules.
inline constexpr const char* kPeftPrefix = "base_model.model.";

/// A folder of PEFT: adapter_config.json and adapter_model.safetensors with
/// `base_model.model.MODULE.lora_A.weight` [r, in] and `.lora_B.weight` [out, r].
class PeftFolder {
 public:
  /// Error(data) for a missing file, another kind of adapter than LoRA, and variants that change
  /// what is computed (DoRA, biases, repeated layers, transposed weights).
  explicit PeftFolder(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return folder_; }
  const PeftConfig& config() const { return config_; }
  const SafetensorsFile& weights() const { return weights_; }
  /// The modules of the base model that have updates, by name.
  std::vector<std::string> modules() const;

 private:
  std::filesystem::path folder_;
  PeftConfig config_;
  SafetensorsFile weights_;
};

/// adapter_config.json of this adapter.
std::string peft_config_json(const PeftConfig& config);

}  // namespace mpitron::io
