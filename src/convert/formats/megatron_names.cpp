#include "convert/formats/megatron_names.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "utils/error.h"

// Names of parameters in Megatron's releases, and along which dimension its tensor parallel ranks
// cut them.

namespace mpitron::convert {
namespace {

using Kind = io::PickleValue::Kind;

constexpr std::pair<const char*, const char*> kFusedNorms[] = {
    {"self_attention.linear_qkv.layer_norm_", "input_layernorm."},
    {"mlp.linear_fc1.layer_norm_", "pre_mlp_layernorm."}};

/// Of numbers, words and lists of them; null for everything else.
nlohmann::json plain(const io::PickleValue& value) {
  switch (value.kind) {
    case Kind::boolean:
      return value.integer != 0;
    case Kind::integer:
      return value.integer;
    case Kind::real:
      return value.real;
    case Kind::text:
      return std::string(value.text);
    case Kind::list:
    case Kind::tuple: {
      nlohmann::json items = nlohmann::json::array();
      for (const io::PickleValue* item : value.items) {
        items.push_back(item->items.empty() ? plain(*item) : nullptr);
      }
      return items;
    }
    default:
      return nullptr;
  }
}

}  // namespace

Division division_of(const std::string& name, const config::ModelConfig& model) {
  const auto is = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (is("word_embeddings.weight") || is("output_layer.weight") || is(".linear_qkv.")) {
    return Division::rows;
  }
  if (is(".linear_fc1.")) {
    return model.gated_linear_unit ? Division::gated_rows : Division::rows;
  }
  return is("linear_proj.weight") || is("linear_fc2.weight") ? Division::columns : Division::whole;
}

std::string our_name_of(std::string name) {
  constexpr std::string_view kWrapper = "module.";
  while (name.starts_with(kWrapper)) {
    name.erase(0, kWrapper.size());
  }
  for (const auto& [fused, own] : kFusedNorms) {
    if (const std::size_t at = name.find(fused); at != std::string::npos) {
      name.replace(at, std::string_view(fused).size(), own);
    }
  }
  return name;
}

bool is_extra_state(const std::string& name) {
  return name.find("_extra_state") != std::string::npos;
}

ModelDescription read_megatron_arguments(const io::PickleValue& arguments,
                                         const std::string& source) {
  const bool state = arguments.state != nullptr && arguments.state->kind == Kind::dict;
  const io::PickleValue& dict = state ? *arguments.state : arguments;
  nlohmann::json json = nlohmann::json::object();
  for (std::size_t i = 0; i + 1 < dict.entries.size(); i += 2) {
    if (dict.entries[i]->kind == Kind::text) {
      json[std::string(dict.entries[i]->text)] = plain(*dict.entries[i + 1]);
    }
  }
  if (json.contains("layernorm_epsilon") && !json.contains("norm_epsilon")) {  // older name
    json["norm_epsilon"] = json["layernorm_epsilon"];
  }
  constexpr auto replace = nlohmann::json::error_handler_t::replace;  // what is not UTF-8
  ModelDescription result = from_configuration(json.dump(-1, ' ', false, replace), source);
  if (json.contains("consumed_train_samples") &&
      json["consumed_train_samples"].is_number_integer()) {
    result.consumed_train_samples = json["consumed_train_samples"];
  }
  return result;
}

TensorInfo info_of(const io::TorchTensor& tensor, const std::string& name,
                   const std::string& source) {
  TensorInfo info{name, {}, DType::f32};
  const std::optional<DType> dtype = io::dtype_of(tensor.type);
  if (!dtype || !is_floating(*dtype) || *dtype == DType::f64 ||
      tensor.shape.size() > Shape::kMaxRank || tensor.numel() == 0) {
    throw_data(
        "{}: {} has the type {}, {} elements and {} dimensions; allowed are fp32, bf16 and "
        "fp16, 1 to {} dimensions",
        source, name, io::safetensors_name(tensor.type), tensor.numel(), tensor.shape.size(),
        Shape::kMaxRank);
  }
  info.dtype = *dtype;
  for (const Index extent : tensor.shape) {
    info.shape.push_back(extent);
  }
  return info;
}

}  // namespace mpitron::convert
