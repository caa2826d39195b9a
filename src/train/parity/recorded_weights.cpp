#include <algorithm>

#include "tensor/host_copy.h"
#include "train/parity/recorded_batches.h"
#include "train/parity/recorded_case.h"
#include "utils/error.h"

// Weights of a recorded run. Names and shapes are checked against our model.

namespace mpitron::train {
namespace {

/// Returns the name of the mixer's convolution in checkpoints; later releases call it otherwise in
/// the model.
std::string other_name(std::string name) {
  if (const std::size_t at = name.find(".conv1d."); at != std::string::npos) {
    name.replace(at, 8, ".conv1d_");
  }
  return name;
}

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

}  // namespace

std::string RecordedCase::recorded_name(const std::string& parameter) const {
  if (!config::family_of(model_type_).has_words()) {
    return vision_name(parameter);
  }
  if (encoder_only_ && parameter.starts_with(kEncoderPrefix)) {
    return parameter.substr(kEncoderPrefix.size());
  }
  return weights_.find(parameter) == nullptr ? other_name(parameter) : parameter;
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
    tensor::copy_bytes(device, value, parameter.value);
  }
  for (const auto& [name, tensor] : weights_.tensors()) {
    const bool placed = std::ranges::any_of(parameters, [&](const autograd::Parameter& p) {
      return p.name == name || recorded_name(p.name) == name || other_name(p.name) == name;
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
