#include "train/recorded_case.h"

#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/files.h"

namespace mpitron::train {
namespace {

using nlohmann::json;

json read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) {
    throw_data("{}: not valid JSON", path.string());
  }
  return value;
}

const json& member(const json& object, const char* key, const std::filesystem::path& path) {
  const auto at = object.find(key);
  if (at == object.end()) {
    throw_data("{}: '{}' is missing", path.string(), key);
  }
  return *at;
}

RecordedIteration recorded(const json& row, const std::filesystem::path& path) {
  RecordedIteration result{.loss = member(row, "lm_loss", path).get<double>(),
                           .grad_norm = {},
                           .update_skipped = {},
                           .learning_rate = member(row, "learning_rate", path).get<double>()};
  if (const json& norm = member(row, "grad_norm", path); !norm.is_null()) {
    result.grad_norm = norm.get<double>();
  }
  if (const auto skipped = row.find("update_skipped"); skipped != row.end()) {
    result.update_skipped = skipped->get<bool>();
  }
  return result;
}

}  // namespace

RecordedCase::RecordedCase(const std::filesystem::path& folder)
    : folder_(folder),
      weights_(folder / "weights.safetensors"),
      logits_(folder / "logits.safetensors") {
  const std::filesystem::path config_path = folder / "config.json",
                              losses_path = folder / "losses.json";
  try {
    const json config = read_json(config_path);
    name_ = member(config, "case", config_path).get<std::string>();
    model_type_ = member(config, "model_type", config_path).get<std::string>();
    flags_ = member(config, "flags", config_path).get<std::vector<std::string>>();
    const json& run = member(config, "run", config_path);
    if (const auto window = run.find("window"); window != run.end()) {
      window_ = window->get<std::array<Index, 2>>();
    }
    qk_l2_norm_ = run.value("qk_l2_norm", false);
    const json losses = read_json(losses_path);
    for (const json& row : member(losses, "iterations", losses_path)) {
      iterations_.push_back(recorded(row, losses_path));
    }
  } catch (const json::exception& error) {
    throw_data("{}: not a recorded run: {}", folder.string(), error.what());
  }
}

void RecordedCase::apply_settings_without_flags(config::RunConfig& config) const {
  if (window_) {
    config.model.window_size = window_;
  }
  config.model.qk_l2_norm = config.model.qk_l2_norm || qk_l2_norm_;
}

void RecordedCase::load_weights(autograd::ParameterList& parameters, bool whole_model) const {
  std::string problems;
  for (autograd::Parameter& parameter : parameters) {
    const auto* recorded = weights_.find(parameter.name);
    if (recorded == nullptr) {
      problems += "\n  missing: " + parameter.name;
      continue;
    }
    Shape shape;
    for (const Index extent : recorded->shape) {
      shape.push_back(extent);
    }
    if (shape != parameter.shape || recorded->type != io::element_type(parameter.value.dtype())) {
      problems += fmt::format("\n  {}: recorded {} {}, the model has {} {}", parameter.name,
                              io::safetensors_name(recorded->type), to_string(shape),
                              name_of(parameter.value.dtype()), to_string(parameter.shape));
      continue;
    }
    const tensor::ConstTensorView global(recorded->data.data(), parameter.value.dtype(), shape);
    tensor::take_shard(global, parameter.shard, parameter.value);
  }
  for (const auto& [name, tensor] : weights_.tensors()) {
    if (whole_model && parameters.find(name) == nullptr) {
      problems += "\n  not in the model: " + name;
    }
  }
  if (!problems.empty()) {
    throw_data("{}: recorded weights do not fit the model of the flags:{}", folder_.string(),
               problems);
  }
}

void RecordedCase::read_batches() {
  const io::SafetensorsFile file(folder_ / "batches.safetensors");
  const auto& recorded = file.at("tokens");
  const auto tokens = recorded.as<std::int32_t>();
  const auto mask = file.at("loss_mask").as<float>();
  const Index rows = recorded.shape.at(0), s = recorded.shape.at(1) - 1;
  sequence_length_ = s;
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < s; ++i) {
      tokens_.push_back(tokens[row * (s + 1) + i]);
      labels_.push_back(tokens[row * (s + 1) + i + 1]);
      position_ids_.push_back(i);
      loss_mask_.push_back(mask[row * s + i]);
    }
  }
}

HostMicrobatch RecordedCase::rows(Index first, Index count) {
  if (tokens_.empty()) {
    read_batches();
  }
  const Index s = sequence_length_;
  if ((first + count) * s > static_cast<Index>(tokens_.size())) {
    throw_data("{}: rows {} to {} wanted, {} recorded", (folder_ / "batches.safetensors").string(),
               first, first + count, static_cast<Index>(tokens_.size()) / s);
  }
  const auto from = static_cast<std::size_t>(first * s), size = static_cast<std::size_t>(count * s);
  return {.samples = count,
          .sequence_length = s,
          .tokens = std::span(tokens_).subspan(from, size),
          .labels = std::span(labels_).subspan(from, size),
          .position_ids = std::span(position_ids_).subspan(from, size),
          .loss_mask = std::span(loss_mask_).subspan(from, size),
          .attention_mask = {},
          .first_sample = first};
}

}  // namespace mpitron::train
