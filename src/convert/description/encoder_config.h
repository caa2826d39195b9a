#pragma once
#include "config/vision_config.h"
#include "convert/description/config_reading.h"

namespace mpitron::convert {

/// What an encoder has where its file does not say it.
struct EncoderDefaults {
  config::TowerKind kind;
  Index patch;
  const char* activation;
  double norm_epsilon;
};

/// CLIP's defaults.
inline constexpr EncoderDefaults kClipDefaults{config::TowerKind::clip, 32, "quick_gelu", 1e-5};
/// SigLIP's defaults.
inline constexpr EncoderDefaults kSiglipDefaults{config::TowerKind::siglip, 16, "gelu_pytorch_tanh",
                                                 1e-6};

/// Epsilon of the norms of Qwen2-VL's encoder, which no file says.
inline constexpr double kQwen2VlEpsilon = 1e-6;

/// All layers of an encoder.
config::VlmConfig read_encoder(const JsonObject& vision, const EncoderDefaults& defaults,
                               ConfigReading& reading);

/// Read and write the word for an encoder's activation, hidden_act.
config::ActivationKind read_encoder_activation(const JsonObject& vision, const char* usual,
                                               ConfigReading& reading);
void write_encoder_activation(config::ActivationKind activation, JsonObject& vision);

/// Writes the sizes of an encoder, its layers and its activation.
void write_encoder_sizes(const config::VlmConfig& vlm, JsonObject& vision);
/// Writes the same of one that may stand alone, with its type.
void write_tower(const config::VlmConfig& vlm, JsonObject& vision);

}  // namespace mpitron::convert
