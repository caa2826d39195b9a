#include "convert/adapters.h"

#include <cstring>

#include <nlohmann/json.hpp>

#include "config/lora_config.h"
#include "convert/formats/mpitron_checkpoint.h"
#include "io/arrays/peft_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

// LoRA updates on their way between PEFT's files and this program's: added to a base model while it
// is read, or written from a checkpoint under PEFT's names.

namespace mpitron::convert {
namespace {

constexpr std::string_view kWeight = ".weight";

/// Returns a factor in fp32, row by row.
std::vector<float> factor(const io::PeftFolder& adapter, const std::string& module,
                          const char* name) {
  const auto& stored = adapter.weights().at(io::kPeftPrefix + module + name);
  const auto dtype = io::dtype_of(stored.type);
  if (!dtype) {
    throw_data("{}: {} is of the type {}", adapter.path().string(), stored.name,
               io::safetensors_name(stored.type));
  }
  const TensorInfo info{stored.name, {stored.shape.at(0), stored.shape.at(1)}, *dtype};
  const HostTensor values = cast(HostTensor(info, stored.data), DType::f32);
  std::vector<float> result(values.bytes().size() / sizeof(float));
  std::memcpy(result.data(), values.bytes().data(), values.bytes().size());
  return result;
}

config::LoraConfig lora_of(const io::PeftFolder& adapter) {
  const io::PeftConfig& stored = adapter.config();
  config::LoraConfig config{.rank = stored.rank,
                            .alpha = stored.alpha,
                            .rank_stabilised = stored.rank_stabilised,
                            .target_modules = {"all-linear"},
                            .rank_pattern = {},
                            .alpha_pattern = stored.alpha_pattern};
  for (const auto& [module, rank] : stored.rank_pattern) {
    config.rank_pattern[module] = static_cast<Index>(rank);
  }
  return config;
}

/// A model whose weights get their updates while they are read, so that at most one sum is in
/// memory.
class MergedAdapter final : public TensorSource {
 public:
  MergedAdapter(TensorSource& base, const io::PeftFolder& adapter)
      : base_(base), adapter_(adapter), config_(lora_of(adapter)) {
    std::string problems;
    for (const std::string& module : adapter.modules()) {
      problems += problem_of(module);
    }
    if (!problems.empty()) {
      throw_data("{}: is for another model:{}", adapter.path().string(), problems);
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return base_.tensors(); }

  HostTensor read(const std::string& name) override {
    const std::string module =
        name.ends_with(kWeight) ? name.substr(0, name.size() - kWeight.size()) : "";
    if (adapter_.weights().find(io::kPeftPrefix + module + ".lora_A.weight") == nullptr) {
      return base_.read(name);
    }
    const HostTensor weight = base_.read(name);
    const TensorInfo info{name, weight.shape(), DType::f32};
    HostTensor sum(info);
    const HostTensor values = cast(weight, DType::f32);
    std::memcpy(sum.data(), values.bytes().data(), values.bytes().size());
    add_update(module, weight.shape(), reinterpret_cast<float*>(sum.data()));
    return cast(sum, weight.dtype());
  }

 private:
  /// Returns a line on what does not fit, or an empty text.
  std::string problem_of(const std::string& module) const {
    const TensorInfo* const weight = base_.find(module + std::string(kWeight));
    if (weight == nullptr) {
      return fmt::format("\n  {} is not in the model", module);
    }
    const Index rank = config_.update_of(module)->rank;
    const auto& a = adapter_.weights().at(io::kPeftPrefix + module + ".lora_A.weight").shape;
    const auto& b = adapter_.weights().at(io::kPeftPrefix + module + ".lora_B.weight").shape;
    const bool fits = a == std::vector<Index>{rank, weight->shape[1]} &&
                      b == std::vector<Index>{weight->shape[0], rank};
    return fits ? ""
                : fmt::format("\n  {}: factors of another shape than rank {} of {}", module, rank,
                              to_string(weight->shape));
  }

  /// Adds s B A row by row; the row is summed before it is scaled, as PEFT merges.
  void add_update(const std::string& module, const Shape& shape, float* sum) const {
    const config::LoraConfig::Update update = *config_.update_of(module);
    const std::vector<float> a = factor(adapter_, module, ".lora_A.weight");
    const std::vector<float> b = factor(adapter_, module, ".lora_B.weight");
    const auto scale = static_cast<float>(update.scale);
    const auto columns = static_cast<std::size_t>(shape[1]);
    const auto rank = static_cast<std::size_t>(update.rank);
    std::vector<float> row(columns);
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape[0]); ++i) {
      std::fill(row.begin(), row.end(), 0.f);
      for (std::size_t k = 0; k < rank; ++k) {
        for (std::size_t j = 0; j < columns; ++j) {
          row[j] += b[i * rank + k] * a[k * columns + j];
        }
      }
      for (std::size_t j = 0; j < columns; ++j) {
        sum[i * columns + j] += scale * row[j];
      }
    }
  }

  TensorSource& base_;
  const io::PeftFolder& adapter_;
  config::LoraConfig config_;
};

}  // namespace

std::unique_ptr<TensorSource> merged(TensorSource& base, const io::PeftFolder& adapter) {
  return std::make_unique<MergedAdapter>(base, adapter);
}

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
