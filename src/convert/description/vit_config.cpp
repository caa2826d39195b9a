#include <string>

#include <fmt/format.h>

#include "convert/description/config_reading.h"

// The config.json of ViT: square images in patches behind one class token, and the names of the
// classes that one layer tells apart.

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::VisionConfig;

constexpr SizeNames kVitSizes{"num_hidden_layers",   "hidden_size", "intermediate_size",
                              "num_attention_heads", nullptr,       "layer_norm_eps",
                              "hidden_act"};
/// Classes of a file that names none.
constexpr Index kClasses = 2;
/// Larger images are no images: numbers of patches stay within 32 bits.
constexpr Index kLargestEdge = 1 << 15;

VisionConfig read_images(ConfigReading& reading) {
  const JsonObject& json = reading.json;
  const Index edge = json.size("image_size", 224), channels = json.size("num_channels", 3);
  const Index named = json.object("id2label").count();
  const VisionConfig vision{.task = config::VisionTask::classify,
                            .image_height = edge,
                            .image_width = edge,
                            .patch = json.size("patch_size", 16),
                            .class_tokens = 1,
                            .classes = json.size("num_labels", named > 0 ? named : kClasses),
                            .linear_head = true};
  reading.require(edge <= kLargestEdge,
                  fmt::format("image_size {}: at most {}", edge, kLargestEdge));
  reading.require(edge % vision.patch == 0, "patches that do not fill an image");
  reading.require(channels == vision.channels, fmt::format("num_channels {}: only 3", channels));
  return vision;
}

/// Names the classes as the library does, unless the file names as many already.
void write_classes(Index classes, JsonObject& json) {
  if (json.object("id2label").count() == classes) {
    return;
  }
  JsonObject names, numbers;
  for (Index i = 0; i < classes; ++i) {
    const std::string name = fmt::format("LABEL_{}", i);
    names.set(fmt::format("{}", i), name.c_str());
    numbers.set(name, i);
  }
  json.set("id2label", names);
  json.set("label2id", numbers);
}

}  // namespace

void read_vit(ConfigReading& reading) {
  ModelConfig& m = reading.result.model;
  const JsonObject& json = reading.json;
  read_sizes(kVitSizes, reading);
  m.kind = config::ModelKind::vit;
  m.normalization = config::Normalization::layer_norm;
  m.hidden_dropout = json.real("hidden_dropout_prob", 0);
  m.attention_dropout = json.real("attention_probs_dropout_prob", 0);
  m.vision = read_images(reading);
  m.max_position_embeddings = m.vision.positions();
  reading.require(
      m.activation == ActivationKind::gelu_erf || m.activation == ActivationKind::gelu_tanh,
      "hidden_act: a GELU (gelu, gelu_new, gelu_pytorch_tanh)");
  reading.require(json.flag("qkv_bias", true), "qkv_bias false");
}

void write_vit(const ModelDescription& description, JsonObject& json) {
  const ModelConfig& m = description.model;
  write_sizes(m, kVitSizes, json);
  json.set("hidden_dropout_prob", m.hidden_dropout);
  json.set("attention_probs_dropout_prob", m.attention_dropout);
  json.set("image_size", m.vision.image_height);
  json.set("patch_size", m.vision.patch);
  json.set("num_channels", m.vision.channels);
  json.set("qkv_bias", true);
  write_classes(m.vision.classes, json);
}

}  // namespace mpitron::convert
