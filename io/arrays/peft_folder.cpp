#include "io/arrays/peft_folder.h"

#include <fstream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "utils/error.h"

namespace mpitron::io {
namespace {

using PeftJson = nlohmann::json;

/// Settings under which the files mean something else than y = W x + s B A x.
constexpr const char* kVariants[] = {"use_dora",
                                     "lora_bias",
                                     "layer_replication",
                                     "fan_in_fan_out",
                                     "use_qalora",
                                     "use_bdlora",
                                     "modules_to_save",
                                     "trainable_token_indices",
                                     "alora_invocation_tokens",
                                     "target_parameters"};

bool is_set(const PeftJson& json, const char* key) {
  const PeftJson& value = json.contains(key) ? json[key] : PeftJson();
  return !value.is_null() && value != false && !(value.is_structured() && value.empty());
}

void refuse_variants(const std::filesystem::path& file, const PeftJson& json) {
  if (json.value("peft_type", "") != "LORA") {
    throw_data("{}: \"peft_type\" is {}, supported is LORA", file.string(),
               json.value("peft_type", "missing"));
  }
  for (const char* variant : kVariants) {
    if (is_set(json, variant)) {
      throw_data("{}: \"{}\" is set, which is not supported", file.string(), variant);
    }
  }
  if (json.value("bias", "none") != "none") {
    throw_data("{}: \"bias\" is {}, supported is none", file.string(), json.value("bias", ""));
  }
}

PeftConfig read_config(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) {
    throw_data("{}: cannot be read; a folder of PEFT has this file", file.string());
  }
  try {
    const PeftJson json = PeftJson::parse(stream);
    refuse_variants(file, json);
    PeftConfig config{.rank = json.at("r"),
                      .alpha = json.at("lora_alpha"),
                      .dropout = json.value("lora_dropout", 0.0),
                      .rank_stabilised = json.value("use_rslora", false),
                      .target_modules = {},
                      .rank_pattern = json.value("rank_pattern", std::map<std::string, double>()),
                      .alpha_pattern = json.value("alpha_pattern", std::map<std::string, double>()),
                      .base_model = is_set(json, "base_model_name_or_path")
                                        ? json["base_model_name_or_path"].get<std::string>()
                                        : ""};
    const PeftJson& targets = json.at("target_modules");
    if (targets.is_string()) {
      config.target_modules = {targets.get<std::string>()};
    } else {
      config.target_modules = targets.get<std::vector<std::string>>();
    }
    return config;
  } catch (const nlohmann::json::exception& error) {
    throw_data("{}: {}", file.string(), error.what());
  }
}

}  // namespace

PeftFolder::PeftFolder(const std::filesystem::path& folder)
    : folder_(folder),
      config_(read_config(folder / "adapter_config.json")),
      weights_(folder / "adapter_model.safetensors") {}

std::vector<std::string> PeftFolder::modules() const {
  constexpr std::string_view kPrefix = kPeftPrefix, kEnd = ".lora_A.weight";
  std::vector<std::string> modules;
  for (const auto& [name, tensor] : weights_.tensors()) {
    if (name.starts_with(kPrefix) && name.ends_with(kEnd)) {
      modules.push_back(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kEnd.size()));
    }
  }
  return modules;
}

std::string peft_config_json(const PeftConfig& config) {
  PeftJson json{{"peft_type", "LORA"},
                {"task_type", "CAUSAL_LM"},
                {"base_model_name_or_path",
                 config.base_model.empty() ? PeftJson() : PeftJson(config.base_model)},
                {"r", config.rank},
                {"lora_alpha", config.alpha},
                {"lora_dropout", config.dropout},
                {"use_rslora", config.rank_stabilised},
                {"target_modules", config.target_modules},
                {"rank_pattern", PeftJson::object()},
                {"alpha_pattern", config.alpha_pattern},
                {"bias", "none"},
                {"fan_in_fan_out", false},
                {"inference_mode", true},
                {"modules_to_save", nullptr}};
  for (const auto& [module, rank] : config.rank_pattern) {
    json["rank_pattern"][module] = static_cast<Index>(rank);
  }
  if (config.target_modules == std::vector<std::string>{"all-linear"}) {
    json["target_modules"] = "all-linear";
  }
  return json.dump(2) + "\n";
}

}  // namespace mpitron::io
