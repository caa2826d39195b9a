#include <algorithm>

#include "tensor/host_copy.h"
#include "train/parity/recorded_batches.h"
#include "train/parity/recorded_case.h"
#include "utils/error.h"

// Weights of a recorded run. Names and shapes are checked against our model.

namespace mpitron::train {
namespace {

/// What later releases call otherwise in the model: a depth's layer, the mixer's convolution.
constexpr std::pair<std::string_view, std::string_view> kLaterNames[] = {
    {".transformer_layer.", ".mtp_model_layer."}, {".conv1d.", ".conv1d_"}};

/// Prefix of an encoder's parameters in a model with a language model.
constexpr std::string_view kEncoderPrefix = "vision_model.";

/// Returns the shape that the model has, where the two differ in how dimensions are split (class
/// tokens, patches).
Shape shape_of(const io::SafetensorsFile::Tensor& recorded, const Shape& wanted) {
  Shape shape;
  Index numel = 1;
  for (const Index extent : recorded.shape) {
    shape.push_back(extent);
    numel *= extent;
  }
  return shape.rank() != wanted.rank() && numel == wanted.numel() ? wanted : shape;
}

/// Adds a number to each element.
void add(const tensor::Tensor& value, float more) {
  visit_dtype(value.dtype(), [&]<class T>() {
    T* const x = value.data<T>();
    std::transform(x, x + value.numel(), x,
                   [=](T old) { return T(static_cast<float>(old) + more); });
  });
}

}  // namespace

std::string name_in_record(std::string name, const std::function<bool(const std::string&)>& has) {
  for (const auto& [here, later] : kLaterNames) {
    const std::size_t at = name.find(here);
    if (at != std::string::npos && !has(name)) {
      name.replace(at, here.size(), later);
    }
  }
  return name;
}

std::string RecordedCase::recorded_name(const std::string& parameter) const {
  if (!config::family_of(model_type_).has_words()) {
    return vision_name(parameter);
  }
  if (encoder_only_ && parameter.starts_with(kEncoderPrefix)) {
    return parameter.substr(kEncoderPrefix.size());
  }
  return name_in_record(parameter,
                        [this](const std::string& name) { return weights_.find(name) != nullptr; });
}

float RecordedCase::recorded_less(const std::string& parameter) const {
  return model_.apply_layernorm_1p && parameter.ends_with(".out_norm.weight") ? 1.F : 0.F;
}

/// Copies each recorded weight, cut to this rank's part; problems are collected, so that one
/// message names all of them.
void RecordedCase::load_weights(device::Device& device, autograd::ParameterList& parameters,
                                bool whole_model) const {
  std::string problems;
  for (autograd::Parameter& parameter : parameters) {
    const auto* recorded = weights_.find(recorded_name(parameter.name));
    if (recorded == nullptr && parameter.role.average_of != nullptr) {  // which starts as a copy
      recorded = weights_.find(recorded_name(parameter.role.average_of->name));
    }
    if (recorded == nullptr) {
      const bool wanted = !encoder_only_ || parameter.name.starts_with(kEncoderPrefix);
      problems += wanted ? "\n  missing: " + parameter.name : "";
      continue;
    }
    const Shape shape = shape_of(*recorded, parameter.shape);
    if (shape != parameter.shape || recorded->type != io::element_type(parameter.value.dtype())) {
      problems += fmt::format("\n  {}: recorded {} {}, the model has {} {}", parameter.name,
                              io::safetensors_name(recorded->type), to_string(shape),
                              name_of(parameter.value.dtype()), to_string(parameter.shape));
      continue;
    }
    const tensor::ConstTensorView global(recorded->data.data(), parameter.value.dtype(), shape);
    const tensor::Tensor value =
        tensor::empty_on_host(device, parameter.value.shape(), parameter.value.dtype());
    tensor::take_shard(global, parameter.placement.shard, value);
    if (const float less = recorded_less(parameter.name); less != 0) {
      add(value, less);
    }
    tensor::copy_bytes(device, value, parameter.value);
  }
  for (const auto& [name, tensor] : weights_.tensors()) {
    const bool placed = std::ranges::any_of(parameters, [&](const autograd::Parameter& p) {
      return p.name == name || recorded_name(p.name) == name;
    });
    if (whole_model && !placed) {
      problems += "\n  not in the model: " + name;
    }
  }
  if (!problems.empty()) {
    throw_data("{}: recorded weights do not fit the model of the flags:{}", folder_.string(),
               problems);
  }
}

}  // namespace mpitron::train
