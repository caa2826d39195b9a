#include <nlohmann/json.hpp>

#include "config/lora_config.h"
#include "convert/adapters.h"
#include "convert/formats/mpitron_checkpoint.h"
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

std::string peft_name(const std::string& name) {
  const std::string place = place_of(name);
  return io::kPeftPrefix + config::module_name(place) + "." + name.substr(place.size());
}

/// Returns the stored settings, with the modules that have updates by their names.
std::string config_text(const std::string& stored, const MpitronCheckpoint& checkpoint) {
  nlohmann::json json = nlohmann::json::parse(stored);
  json["target_modules"] = nlohmann::json::array();
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    if (tensor.name.ends_with(".lora_A.weight")) {
      json["target_modules"].push_back(config::module_name(place_of(tensor.name)));
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace

Index export_adapter(const std::filesystem::path& path, const std::filesystem::path& folder) {
  MpitronCheckpoint checkpoint(path);
  const std::string* const stored = checkpoint.text(checkpoint::kAdapterConfig);
  std::vector<io::SafetensorsEntry> layout;
  std::vector<std::string> names;
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    if (tensor.name.find(".lora_") != std::string::npos) {
      layout.push_back({peft_name(tensor.name),
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
  config.write(config_text(*stored, checkpoint));
  config.commit();
  return static_cast<Index>(names.size());
}

}  // namespace mpitron::convert
