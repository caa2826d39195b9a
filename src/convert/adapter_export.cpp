#include <nlohmann/json.hpp>

#include "config/lora_config.h"
#include "convert/adapters.h"
#include "convert/formats/mpitron_checkpoint.h"
#include "convert/names/name_table.h"
#include "io/arrays/peft_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Adapters of a checkpoint, written under PEFT's names.

namespace mpitron::convert {
namespace {

/// Returns `decoder.layers.0.mlp.up_proj.` of the name of a factor.
std::string place_of(const std::string& name) {
  return name.substr(0, name.find("lora_"));
}

/// Gives modules the names that the files of a checkpoint's family have for them.
class ModuleNames {
 public:
  explicit ModuleNames(const MpitronCheckpoint& checkpoint)
      : llama4_(matching_model_type(checkpoint.description()) == "llama4_text") {}

  std::string module(const std::string& factor) const {
    std::string usual = config::module_name(place_of(factor));
    return llama4_ ? config::module_of_llama4(std::move(usual)) : usual;
  }
  std::string stored(const std::string& factor) const {
    return io::kPeftPrefix + module(factor) + "." + factor.substr(place_of(factor).size());
  }

 private:
  bool llama4_;
};

/// Returns the stored settings, with the modules that have updates by their names.
std::string config_text(const std::string& stored, const MpitronCheckpoint& checkpoint,
                        const ModuleNames& modules) {
  nlohmann::json json = nlohmann::json::parse(stored);
  json["target_modules"] = nlohmann::json::array();
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    if (tensor.name.ends_with(".lora_A.weight")) {
      json["target_modules"].push_back(modules.module(tensor.name));
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace

Index export_adapter(const std::filesystem::path& path, const std::filesystem::path& folder) {
  MpitronCheckpoint checkpoint(path);
  const ModuleNames modules(checkpoint);
  const std::string* const stored = checkpoint.text(checkpoint::kAdapterConfig);
  std::vector<io::SafetensorsEntry> layout;
  std::vector<std::string> names;
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    if (tensor.name.find(".lora_") != std::string::npos) {
      layout.push_back({modules.stored(tensor.name),
                        io::element_type(tensor.dtype),
                        {tensor.shape[0], tensor.shape[1]}});
      names.push_back(tensor.name);
    }
  }
  if (stored == nullptr || layout.empty()) {
    throw_data("{}: holds no low-rank updates; a run with --lora-rank saves them",
               checkpoint.path().string());
  }
  std::filesystem::create_directories(folder);
  io::SafetensorsWriter writer(folder / "adapter_model.safetensors", layout, {{"format", "pt"}});
  for (const std::string& name : names) {
    writer.write(checkpoint.read(name).bytes());
  }
  writer.commit();
  AtomicFile config(folder / "adapter_config.json");
  config.write(config_text(*stored, checkpoint, modules));
  config.commit();
  return static_cast<Index>(names.size());
}

}  // namespace mpitron::convert
