#include "convert/formats/megatron_names.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "utils/error.h"

// Names of parameters in Megatron's releases, and along which dimension its tensor parallel ranks
// cut them.

namespace mpitron::convert {
namespace {

using Kind = io::PickleValue::Kind;

/// Names of Transformer Engine's fused layers and of later releases, and ours in their place.
constexpr std::pair<const char*, const char*> kOtherNames[] = {
    {"self_attention.linear_qkv.layer_norm_", "input_layernorm."},
    {"self_attention.in_proj.layer_norm_", "input_layernorm."},
    {"mixer.in_proj.layer_norm_", "norm."},
    {"mlp.linear_fc1.layer_norm_", "pre_mlp_layernorm."},
    {".conv1d_", ".conv1d."}};

/// Ends of names of what tensor ranks divide by rows.
constexpr const char* kRows[] = {"word_embeddings.weight",
                                 "output_layer.weight",
                                 ".linear_qkv.weight",
                                 ".linear_qkv.bias",
                                 ".linear_fc1.weight",
                                 ".linear_fc1.bias",
                                 ".in_proj.weight",
                                 ".conv1d.weight",
                                 ".conv1d.bias",
                                 ".dt_bias",
                                 ".A_log",
                                 ".mixer.D",
                                 ".mixer.norm.weight",
                                 ".softmax_offset"};
/// Ends of names of what they divide by columns; everything else each rank has whole.
constexpr const char* kColumns[] = {"linear_proj.weight", "linear_fc2.weight", "out_proj.weight"};

template <class Ends>
bool ends_with_any(const std::string& name, const Ends& ends) {
  return std::ranges::any_of(ends, [&](const char* end) { return name.ends_with(end); });
}

/// Returns numbers, words and lists of them as JSON; null for everything else, such as classes and
/// torch types.
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

Division division_of(const std::string& name) {
  return ends_with_any(name, kRows)      ? Division::rows
         : ends_with_any(name, kColumns) ? Division::columns
                                         : Division::whole;
}

std::vector<RowPart> parts_of(const std::string& name, const config::ModelConfig& model,
                              Index rows) {
  const config::MambaConfig& mamba = model.hybrid.mamba;
  const config::DeltaNetConfig& net = model.hybrid.delta_net;
  const Index width = mamba.width(), both = mamba.shared();
  const Index keys = net.keys(), values = net.values(), heads = net.value_heads;
  const bool conv = name.find(".conv1d.") != std::string::npos;
  if (model.gated_linear_unit && name.find(".linear_fc1.") != std::string::npos) {
    return {{rows / 2}, {rows / 2}};
  }
  if (name.ends_with(".mixer.in_proj.weight")) {
    return {{width, "z"}, {width, "x"}, {both, "B"}, {both, "C"}, {mamba.heads, "dt"}};
  }
  if (conv && name.find(".mixer.") != std::string::npos) {
    return {{width, "x"}, {both, "B"}, {both, "C"}};
  }
  if (name.ends_with(".self_attention.in_proj.weight")) {
    return {{keys, "query"}, {keys, "key"},   {values, "value"},
            {values, "z"},   {heads, "beta"}, {heads, "alpha"}};
  }
  if (conv) {
    return {{keys, "query"}, {keys, "key"}, {values, "value"}};
  }
  return {{rows}};
}

std::string our_name_of(std::string name) {
  constexpr std::string_view kWrapper = "module.";
  while (name.starts_with(kWrapper)) {
    name.erase(0, kWrapper.size());
  }
  for (const auto& [fused, own] : kOtherNames) {
    if (const std::size_t at = name.find(fused); at != std::string::npos) {
      name.replace(at, std::string_view(fused).size(), own);
    }
  }
  return name;
}

bool is_extra_state(const std::string& name) {
  return name.find("_extra_state") != std::string::npos;
}

namespace {

/// Adds what the arguments leave open: they do not name the program that wrote them, and --spec
/// tells a Mamba model.
void complete(nlohmann::json& json, bool has_positions) {
  if (json.contains("layernorm_epsilon") && !json.contains("norm_epsilon")) {  // older name
    json["norm_epsilon"] = json["layernorm_epsilon"];
  }
  if (json.contains("spec") && json["spec"].dump().find("mamba") != std::string::npos) {
    json["model"] = "mamba";
    if (!has_positions && json.contains("position_embedding_type") &&
        json["position_embedding_type"] == "learned_absolute") {
      json["position_embedding_type"] = "none";
    }
  }
}

}  // namespace

ModelDescription read_megatron_arguments(const io::PickleValue& arguments,
                                         const std::string& source, bool has_positions) {
  const bool state = arguments.state != nullptr && arguments.state->kind == Kind::dict;
  const io::PickleValue& dict = state ? *arguments.state : arguments;
  nlohmann::json json = nlohmann::json::object();
  for (std::size_t i = 0; i + 1 < dict.entries.size(); i += 2) {
    if (dict.entries[i]->kind == Kind::text) {
      json[std::string(dict.entries[i]->text)] = plain(*dict.entries[i + 1]);
    }
  }
  complete(json, has_positions);
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
