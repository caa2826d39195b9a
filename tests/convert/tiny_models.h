#pragma once
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "convert/formats/folded_frames.h"
#include "convert/formats/stacked_experts.h"
#include "convert/names/name_table.h"
#include "io/arrays/safetensors.h"
#include "support/foreign_files.h"

// Models of all families as their files would have them; the values and the logits that belong to
// them come from reference_logits.py and library_logits.py, the Megatron checkpoints from
// megatron_files.py.

namespace mpitron::test {

/// Tensors in memory under any names.
class MemorySource : public convert::TensorSource {
 public:
  void add(const std::string& name, const Shape& shape, std::vector<float> values) {
    MPITRON_CHECK(static_cast<Index>(values.size()) == shape.numel(), name);
    infos_.push_back({name, shape, DType::f32});
    values_[name] = std::move(values);
  }
  /// With the values of reference_logits.py.
  void add(const std::string& name, const Shape& shape) {
    add(name, shape, elements(name, shape.numel()));
  }
  void remove(const std::string& name) {
    std::erase_if(infos_, [&](const auto& info) { return info.name == name; });
  }

  const std::vector<convert::TensorInfo>& tensors() const override { return infos_; }
  convert::HostTensor read(const std::string& name) override {
    return {*find(name), std::as_bytes(std::span(values_.at(name)))};
  }

 private:
  std::vector<convert::TensorInfo> infos_;
  std::map<std::string, std::vector<float>> values_;
};

inline std::vector<float> floats_of(const convert::HostTensor& tensor) {
  std::vector<float> values(tensor.bytes().size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes().data(), tensor.bytes().size());
  return values;
}

struct ReferenceModel {
  std::string config;  // of config.json
  std::vector<std::int64_t> tokens;
  std::vector<std::vector<float>> logits;
  MemorySource weights;
};

inline ReferenceModel reference_model(const std::string& family) {
  auto all = nlohmann::ordered_json::parse(read_file(convert_data("reference_logits.json")));
  all.update(nlohmann::ordered_json::parse(read_file(convert_data("library_logits.json"))));
  const auto& entry = all.at(family);
  ReferenceModel model{.config = entry.at("config").dump(2),
                       .tokens = entry.at("tokens"),
                       .logits = entry.at("logits"),
                       .weights = {}};
  for (const auto& [name, extents] : entry.at("tensors").items()) {
    Shape shape;
    for (const Index extent : extents) {
      shape.push_back(extent);
    }
    model.weights.add(name, shape);
  }
  return model;
}

/// Families with words.
inline const std::vector<std::string>& families() {
  static const std::vector<std::string> names{
      "gpt2",        "llama",  "mistral",     "qwen2",         "mixtral",
      "deepseek_v2", "t5",     "mamba2",      "nemotron_h",    "qwen3_next",
      "gpt_oss",     "gemma2", "gemma3_text", "llama4_text",   "megatron-bert",
      "llava",       "gemma3", "qwen2_vl",    "qwen2_vl_text", "llama4"};
  return names;
}

/// These, and a model of images, which has no words.
inline std::vector<std::string> all_families() {
  std::vector<std::string> names = families();
  names.emplace_back("vit");
  return names;
}

/// The tensors of a folder in Hugging Face's layout, written without the program's own writer.
inline void write_tensors(const std::filesystem::path& folder, convert::TensorSource& weights) {
  std::vector<io::SafetensorsEntry> layout;
  for (const auto& info : weights.tensors()) {
    layout.push_back({info.name, io::ElementType::f32, {}});
    for (int i = 0; i < info.shape.rank(); ++i) {
      layout.back().shape.push_back(info.shape[i]);
    }
  }
  io::SafetensorsWriter writer(folder / "model.safetensors", layout, {{"format", "pt"}});
  for (const auto& info : weights.tensors()) {
    writer.write(weights.read(info.name).bytes());
  }
  writer.commit();
}

/// The same tensors, whose names begin as another release of their program has it: the first pair
/// of (usual, other) that fits is taken.
using Prefixes = std::vector<std::pair<std::string, std::string>>;
inline MemorySource renamed(convert::TensorSource& weights, const Prefixes& prefixes) {
  MemorySource result;
  for (const auto& info : weights.tensors()) {
    std::string name = info.name;
    for (const auto& [usual, other] : prefixes) {
      if (info.name.starts_with(usual)) {
        name = other + info.name.substr(usual.size());
        break;
      }
    }
    result.add(name, info.shape, floats_of(weights.read(info.name)));
  }
  return result;
}

/// What transformers 5 calls the parts of a LLaVA in memory, and in files without
/// `save_original_format`.
inline const Prefixes& newer_llava_names() {
  static const Prefixes names = {{"vision_tower.vision_model.", "model.vision_tower."},
                                 {"multi_modal_projector.", "model.multi_modal_projector."},
                                 {"language_model.model.", "model.language_model."},
                                 {"language_model.lm_head.", "lm_head."}};
  return names;
}

/// Such a folder. stacked_experts_test.cpp holds what stacks experts against numbers.
inline void write_hugging_face_folder(const std::filesystem::path& folder,
                                      const std::string& family) {
  std::filesystem::create_directories(folder);
  ReferenceModel model = reference_model(family);
  write_text(folder / "config.json", model.config);
  write_text(folder / "tokenizer.json", R"({"model": {"type": "BPE"}})");
  const auto order = convert::stacked_experts(family);
  const auto stacked = order ? convert::stack_experts(model.weights, *order) : nullptr;
  const auto frames =
      convert::has_two_frames(family) ? convert::unfold_frames(model.weights) : nullptr;
  convert::TensorSource& weights = order    ? *stacked
                                   : frames ? *frames
                                            : static_cast<convert::TensorSource&>(model.weights);
  write_tensors(folder, weights);
}

}  // namespace mpitron::test
