#include "convert/formats/megatron_names.h"

#include <algorithm>
#include <utility>

#include "utils/error.h"

// Names of parameters in Megatron's releases, and along which dimension its tensor parallel ranks
// cut them.

namespace mpitron::convert {
namespace {

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
