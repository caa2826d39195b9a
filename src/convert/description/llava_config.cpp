#include <cmath>

#include "convert/description/config_reading.h"
#include "convert/description/encoder_config.h"

// The config.json of LLaVA: a Llama in text_config, an image encoder in vision_config, and the
// projector between them.

namespace mpitron::convert {
namespace {

using config::ModelConfig;
using config::ModelKind;
using config::VlmConfig;

/// Returns the layers of the encoder behind which the language model looks: all for feature layer
/// -1, the first two for 2; 0 where the setting has no meaning here.
Index layers_seen(const ConfigReading& reading, Index layers) {
  const bool one = reading.whole.reals("vision_feature_layer").empty();
  const double feature = one ? reading.whole.real("vision_feature_layer", -2) : 0;
  const double seen = feature < 0 ? static_cast<double>(layers) + 1 + feature : feature;
  return seen >= 1 && seen <= static_cast<double>(layers) && seen == std::floor(seen)
             ? static_cast<Index>(seen)
             : 0;
}

}  // namespace

void read_llava(ConfigReading& reading) {
  const JsonObject &whole = reading.whole, vision = whole.object("vision_config");
  ModelConfig& m = reading.result.model;
  reading.require(reading.json.text("model_type", "llama") == "llama",
                  "text_config: model_type " + reading.json.text("model_type"));
  reading.require(vision.text("model_type", "clip_vision_model") == "clip_vision_model",
                  "vision_config: model_type " + vision.text("model_type"));
  read_llama(reading);
  m.kind = ModelKind::vlm;
  const std::string kept = whole.text("vision_feature_select_strategy", "default");
  reading.require(kept == "default" || kept == "full", "vision_feature_select_strategy " + kept);
  reading.require(whole.text("projector_hidden_act", "gelu") == "gelu",
                  "projector_hidden_act " + whole.text("projector_hidden_act"));
  reading.require(whole.flag("multimodal_projector_bias", true), "multimodal_projector_bias false");
  VlmConfig vlm = read_encoder(vision, kClipDefaults, reading);
  vlm.tower_layers = layers_seen(reading, vlm.tower_layers);
  vlm.class_token = kept == "full";
  vlm.projector_sizes = config::ProjectorSizes{.ffn_hidden_size = m.hidden_size};
  reading.require(vlm.tower_layers > 0,
                  "vision_feature_layer " + whole.text("vision_feature_layer"));
  m.vlm = vlm;
}

/// Makes the last layer the one that is looked behind: layers that were not read are gone.
void write_llava(const ModelDescription& description, JsonObject& json) {
  const VlmConfig& vlm = *description.model.vlm;
  ModelDescription language = description;
  language.model_type = "llama";
  JsonObject text = json.object("text_config"), vision = json.object("vision_config");
  text.set("model_type", "llama");
  write_common(description, text);
  write_llama(language, text);
  write_tower(vlm, vision);
  json.set("text_config", text);
  json.set("vision_config", vision);
  json.set("vision_feature_layer", Index{-1});
  json.set("vision_feature_select_strategy", vlm.class_token ? "full" : "default");
  json.set("projector_hidden_act", "gelu");
  json.set("image_seq_length", vlm.positions());
  if (!json.has("image_token_index") && !json.has("image_token_id")) {
    json.set("image_token_index", description.stored_vocab_size() - 1);
  }
}

}  // namespace mpitron::convert
