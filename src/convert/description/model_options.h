#pragma once
#include <utility>

#include "config/model_config.h"
#include "convert/description/json_object.h"

// A model's options as JSON: what a run that makes such a model is given. A table has pairs of a
// stored name and a member, or of a word and the value that it stands for.

namespace mpitron::convert {

/// Sizes of delta nets, which Hugging Face calls by the same names.
inline constexpr std::pair<const char*, Index config::DeltaNetConfig::*> kDeltaNetSizes[] = {
    {"linear_conv_kernel_dim", &config::DeltaNetConfig::conv_width},
    {"linear_key_head_dim", &config::DeltaNetConfig::key_dim},
    {"linear_value_head_dim", &config::DeltaNetConfig::value_dim},
    {"linear_num_key_heads", &config::DeltaNetConfig::key_heads},
    {"linear_num_value_heads", &config::DeltaNetConfig::value_heads},
};

template <class Table, class Object>
void write_all(const Table& table, const Object& object, JsonObject& json) {
  for (const auto& [name, member] : table) {
    json.set(name, object.*member);
  }
}

/// Writes those members that have a value.
template <class Table, class Object>
void write_given(const Table& table, const Object& object, JsonObject& json) {
  for (const auto& [name, member] : table) {
    if (object.*member) {
      json.set(name, *(object.*member));
    }
  }
}

template <class Table, class E>
void write_choice(const char* name, const Table& words, E value, JsonObject& json) {
  for (const auto& [word, candidate] : words) {
    if (candidate == value) {
      json.set(name, word);
    }
  }
}

/// Positions and latent attention of a model.
void write_attention(const config::ModelConfig& model, JsonObject& json);

/// Sinks and windows of attention, and gated activations with their limits.
void write_limits(const config::ModelConfig& model, JsonObject& json);

/// Norms behind branches, embeddings times a root, rotary base of windows, scale of scores.
void write_gemma(const config::ModelConfig& model, JsonObject& json);

/// The options of experts.
void write_experts(const config::MoeConfig& moe, JsonObject& json);

/// Images, their patches and classes of a model of images alone.
void write_images(const config::VisionConfig& vision, JsonObject& json);

/// Encoder and projector of a model that sees images.
void write_vision(const config::VlmConfig& vlm, JsonObject& json);

/// Layers by letters, delta nets, output gates.
void write_hybrid(const config::ModelConfig& model, JsonObject& json);

}  // namespace mpitron::convert
