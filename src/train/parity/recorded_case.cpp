#include "train/parity/recorded_case.h"

#include <nlohmann/json.hpp>

#include "train/parity/recorded_batches.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Reads a recorded case: flags and losses of a run of Megatron-Core, and its batches when they are
// asked for.

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
    model_.kind = config::family_of(model_type_).kind;
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
    const std::string kind = config["dims"].value("kind", "");
    encoder_only_ = kind == "tower";
    model_type_ = kind == "llava" || encoder_only_ ? "vlm" : "vit";
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

RecordedLogits RecordedCase::first_logits() const {
  if (model_.text_head) {
    return head_logits(logits_.at("first_batch"));
  }
  if (!config::family_of(model_type_).has_words()) {
    return vision_logits(logits_, model_.vision);
  }
  const io::SafetensorsFile::Tensor& recorded = logits_.at("first_microbatch");
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
  if (window_) {
    config.model.window_size = window_;
  }
  config.model.qk_l2_norm = config.model.qk_l2_norm || qk_l2_norm_;
  model_ = config.model;
}

std::optional<RecordedCase::Unlearned> RecordedCase::last_logits() {
  const auto* recorded = model_.text_head ? logits_.find("valid_after_training") : nullptr;
  if (recorded == nullptr) {
    return std::nullopt;
  }
  RecordedLogits logits = head_logits(*recorded);
  unlearned_ = std::make_unique<RecordedHeadTexts>(folder_, *model_.text_head, "valid_");
  return Unlearned{unlearned_->rows(0, logits.samples * model_.text_head->choices),
                   std::move(logits)};
}

HostMicrobatch RecordedCase::rows(Index first, Index count) {
  if (!batches_) {
    switch (model_.samples()) {
      case config::SampleKind::image_texts:
        batches_ = std::make_unique<RecordedConversations>(folder_, *model_.vlm, model_.seq_length);
        break;
      case config::SampleKind::images:
        batches_ = std::make_unique<RecordedImages>(folder_, model_.vision);
        break;
      case config::SampleKind::labelled_texts:
        batches_ = std::make_unique<RecordedHeadTexts>(folder_, *model_.text_head, "");
        break;
      default:
        batches_ = std::make_unique<RecordedTexts>(folder_, model_.samples());
    }
  }
  return batches_->rows(first, count);
}

}  // namespace mpitron::train
