#include "train/parity/recorded_case.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "tensor/host_copy.h"
#include "utils/error.h"
#include "utils/system/files.h"

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
  const char* loss = row.contains("loss") ? "loss" : "lm_loss";  // of images
  RecordedIteration result{.loss = member(row, loss, path).get<double>(),
                           .grad_norm = {},
                           .update_skipped = {},
                           .learning_rate = member(row, "learning_rate", path).get<double>()};
  if (const json& norm = member(row, "grad_norm", path); !norm.is_null()) {
    result.grad_norm = norm.get<double>();
  }
  if (const auto skipped = row.find("update_skipped"); skipped != row.end()) {
    result.update_skipped = skipped->get<bool>();
  }
  if (const auto logit = row.find("max_attention_logit"); logit != row.end()) {
    result.max_attention_logit = logit->get<double>();
  }
  constexpr std::pair<const char*, const char*> kOthers[] = {
      {"sop_loss", "sop loss"}, {"accuracy", "accuracy"}, {"psnr", "psnr"}, {"ssim", "ssim"}};
  for (const auto& [recorded_name, name] : kOthers) {
    if (const auto other = row.find(recorded_name); other != row.end()) {
      result.other_losses[name] = other->get<double>();
    }
  }
  return result;
}

/// Later releases call the mixer's convolution so in the model; its checkpoints have our name.
std::string other_name(std::string name) {
  if (const std::size_t at = name.find(".conv1d."); at != std::string::npos) {
    name.replace(at, 8, ".conv1d_");
  }
  return name;
}

std::vector<std::int64_t> integers(const io::SafetensorsFile& file, const char* name) {
  const auto values = file.at(name).as<std::int32_t>();
  std::vector<std::int64_t> result;
  for (Index i = 0; i < values.size(); ++i) {
    result.push_back(values[i]);
  }
  return result;
}

/// As the model has it, where the two differ in how dimensions are split (class tokens, patches).
Shape shape_of(const io::SafetensorsFile::Tensor& recorded, const Shape& wanted) {
  Shape shape;
  Index numel = 1;
  for (const Index extent : recorded.shape) {
    shape.push_back(extent);
    numel *= extent;
  }
  return shape.rank() != wanted.rank() && numel == wanted.numel() ? wanted : shape;
}

/// Token 0 is padding.
std::vector<std::int64_t> padding_of(const std::vector<std::int64_t>& tokens) {
  std::vector<std::int64_t> mask;
  std::ranges::transform(tokens, std::back_inserter(mask),
                         [](std::int64_t token) { return token != 0 ? 1 : 0; });
  return mask;
}

}  // namespace

RecordedCase::RecordedCase(const std::filesystem::path& folder)
    : folder_(folder),
      weights_(folder / "weights.safetensors"),
      logits_(folder / "logits.safetensors") {
  try {
    if (is_recorded_head(folder)) {
      name_ = folder.filename();
      model_type_ = "bert";
      flags_ = head_flags(folder / "losses.json");
    } else {
      read_configuration();
    }
    read_losses();
  } catch (const json::exception& error) {
    throw_data("{}: not a recorded run: {}", folder.string(), error.what());
  }
}

void RecordedCase::read_configuration() {
  const std::filesystem::path path = folder_ / "config.json";
  const json config = read_json(path);
  name_ = member(config, "case", path).get<std::string>();
  model_type_ = member(config, "model_type", path).get<std::string>();
  // Recorded runs on images have sizes instead.
  const bool has_flags =
      config.contains("flags") || !config.value("dims", json::object()).contains("img");
  if (!has_flags) {
    flags_ = vision_flags(path);
    model_type_ = config["dims"].value("kind", "") == "llava" ? "vlm" : "vit";
  } else {
    flags_ = member(config, "flags", path).get<std::vector<std::string>>();
  }
  const json run = has_flags ? member(config, "run", path) : json::object();
  if (const auto window = run.find("window"); window != run.end()) {
    window_ = window->get<std::array<Index, 2>>();
  }
  qk_l2_norm_ = run.value("qk_l2_norm", false);
}

void RecordedCase::read_losses() {
  const std::filesystem::path path = folder_ / "losses.json";
  const json losses = read_json(path);
  for (const json& row : member(losses, "iterations", path)) {
    iterations_.push_back(recorded(row, path));
  }
  final_norms_ = losses.value("final_parameter_l2", final_norms_);
}

std::string RecordedCase::recorded_name(const std::string& parameter) const {
  if (has_images()) {
    return vision_name(parameter);
  }
  return weights_.find(parameter) == nullptr ? other_name(parameter) : parameter;
}

RecordedLogits RecordedCase::first_logits() const {
  if (head_) {
    return head_logits(logits_.at("first_batch"));
  }
  const io::SafetensorsFile::Tensor& recorded = logits_.at("first_microbatch");
  if (has_images()) {
    return vision_logits(recorded, vision_.patch);
  }
  RecordedLogits result{.samples = recorded.shape.at(0),
                        .length = recorded.shape.at(1),
                        .columns = recorded.shape.at(2),
                        .values = {}};
  const auto values = recorded.as<float>();
  for (Index i = 0; i < values.size(); ++i) {
    result.values.push_back(values[i]);
  }
  return result;
}

void RecordedCase::apply_settings_without_flags(config::RunConfig& config) {
  vision_ = config.model.vision;
  vlm_ = config.model.vlm;
  head_ = config.model.text_head;
  seq_length_ = config.model.seq_length;
  if (window_) {
    config.model.window_size = window_;
  }
  config.model.qk_l2_norm = config.model.qk_l2_norm || qk_l2_norm_;
}

void RecordedCase::load_weights(device::Device& device, autograd::ParameterList& parameters,
                                bool whole_model) const {
  std::string problems;
  for (autograd::Parameter& parameter : parameters) {
    const auto* recorded = weights_.find(recorded_name(parameter.name));
    if (recorded == nullptr) {
      problems += "\n  missing: " + parameter.name;
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
    tensor::take_shard(global, parameter.shard, value);
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

void RecordedCase::read_batches() {
  const io::SafetensorsFile file(folder_ / "batches.safetensors");
  const auto mask = file.at("loss_mask").as<float>();
  for (Index i = 0; i < mask.size(); ++i) {
    loss_mask_.push_back(mask[i]);
  }
  recorded_rows_ = file.at("loss_mask").shape.at(0);
  if (model_type_ == "bert") {
    tokens_ = integers(file, "text");
    labels_ = integers(file, "labels");
    padding_mask_ = integers(file, "padding_mask");
    token_types_ = integers(file, "types");
    sentence_order_ = integers(file, "is_random");
  } else if (model_type_ == "t5") {
    tokens_ = integers(file, "text_enc");
    padding_mask_ = padding_of(tokens_);
    decoder_tokens_ = integers(file, "text_dec");
    decoder_padding_mask_ = padding_of(decoder_tokens_);
    labels_ = integers(file, "labels");
  } else {
    const std::vector<std::int64_t> text = integers(file, "tokens");
    const Index width = file.at("tokens").shape.at(1);  // s + 1
    for (Index i = 0; i < static_cast<Index>(text.size()); ++i) {
      if (i % width < width - 1) {
        tokens_.push_back(text[static_cast<std::size_t>(i)]);
        labels_.push_back(text[static_cast<std::size_t>(i + 1)]);
      }
    }
  }
}

template <class T>
std::span<const T> RecordedCase::part(const std::vector<T>& column, Index first,
                                      Index count) const {
  const Index width = static_cast<Index>(column.size()) / recorded_rows_;
  return std::span(column).subspan(static_cast<std::size_t>(first * width),
                                   static_cast<std::size_t>(count * width));
}

const RecordedTexts& RecordedCase::texts() {
  if (!texts_) {
    texts_.emplace(folder_, *head_);
  }
  return *texts_;
}

std::optional<RecordedCase::Unlearned> RecordedCase::last_logits() {
  const auto* recorded = head_ ? logits_.find("valid_after_training") : nullptr;
  if (recorded == nullptr) {
    return std::nullopt;
  }
  RecordedLogits logits = head_logits(*recorded);
  return Unlearned{texts().rows(0, logits.samples * head_->choices, true), std::move(logits)};
}

HostMicrobatch RecordedCase::rows(Index first, Index count) {
  if (head_) {
    return texts().rows(first, count);
  }
  if (vlm_) {
    if (!conversations_) {
      conversations_.emplace(folder_, *vlm_, seq_length_);
    }
    return conversations_->rows(first, count);
  }
  if (has_images()) {
    if (!images_) {
      images_.emplace(folder_, vision_);
    }
    return images_->rows(first, count);
  }
  if (tokens_.empty()) {
    read_batches();
  }
  if (first + count > recorded_rows_) {
    throw_data("{}: rows {} to {} wanted, {} recorded", (folder_ / "batches.safetensors").string(),
               first, first + count, recorded_rows_);
  }
  return {.samples = count,
          .sequence_length = static_cast<Index>(tokens_.size()) / recorded_rows_,
          .tokens = part(tokens_, first, count),
          .labels = part(labels_, first, count),
          .position_ids = {},
          .loss_mask = part(loss_mask_, first, count),
          .attention_mask = {},
          .first_sample = first,
          .padding_mask = part(padding_mask_, first, count),
          .token_types = part(token_types_, first, count),
          .sentence_order = part(sentence_order_, first, count),
          .decoder_tokens = part(decoder_tokens_, first, count),
          .decoder_padding_mask = part(decoder_padding_mask_, first, count)};
}

}  // namespace mpitron::train
