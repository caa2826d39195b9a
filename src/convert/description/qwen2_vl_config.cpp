#include <cmath>

#include "convert/description/config_reading.h"

// The config.json of Qwen2-VL, of which this program has the language model: Qwen2 whose rotary
// frequencies are shared out to time, height and width. Older files are one object, newer ones have
// a text_config.

namespace mpitron::convert {
namespace {

constexpr const char *kTextPart = "text_config", *kAxes = "mrope_section",
                     *kTied = "tie_word_embeddings";

/// Returns the object on rotary positions, and the base of frequencies beside or inside of it.
JsonObject rope_of_axes(const JsonObject& json) {
  return json.object(json.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
}

}  // namespace

void read_qwen2_vl(ConfigReading& reading) {
  config::ModelConfig& m = reading.result.model;
  read_whole_heads(reading);
  read_query_groups(reading);
  m.add_bias_linear = false;
  m.add_qkv_bias = true;
  m.untie_embeddings_and_output_weights =
      !reading.json.flag(kTied, false) && !reading.whole.flag(kTied, false);
  reading.require(!reading.json.flag("use_sliding_window", false), "use_sliding_window");
  JsonObject rope = rope_of_axes(reading.json);
  for (const double part : rope.reals(kAxes)) {
    reading.require(part >= 1 && part < 1e6 && part == std::floor(part), "mrope_section");
    m.mrope_section.push_back(static_cast<Index>(std::fmin(std::fmax(part, 0), 1e6)));
  }
  reading.require(m.mrope_section.size() == 3, "no mrope_section of three numbers");
  for (const char* type : {"rope_type", "type"}) {
    if (rope.text(type) == "mrope") {
      rope.set(type, "default");
    }
  }
  read_rotary(rope, reading);
}

/// Writes the spelling that all releases read, where the original has its language model.
void write_qwen2_vl(const ModelDescription& description, JsonObject& json) {
  const config::ModelConfig& m = description.model;
  const bool nested = json.has(kTextPart);
  JsonObject text = nested ? json.object(kTextPart) : json;
  write_modern(m, text);
  text.erase("rope_parameters");
  text.set("rope_theta", static_cast<double>(m.rotary_base));
  JsonObject rope;
  rope.set("type", "mrope");
  rope.set_list(kAxes, m.mrope_section);
  text.set("rope_scaling", rope);
  text.set("use_sliding_window", false);
  if (!nested) {
    json = text;
    return;
  }
  text.set("model_type", "qwen2_vl_text");
  write_common(description, text);
  json.set(kTextPart, text);
}

}  // namespace mpitron::convert
