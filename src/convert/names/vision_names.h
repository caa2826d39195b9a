#pragma once
#include "convert/names/name_families.h"

namespace mpitron::convert {

/// ViTForImageClassification.
Family vit_family();
/// Encoders of images alone, as CLIPVisionModel and SiglipVisionModel have them.
Family clip_vision_family();
Family siglip_vision_family();
/// LlavaForConditionalGeneration: CLIP's encoder, a projector and a Llama with these needs.
Family llava_family(Needs (*language_model)(const config::ModelConfig& model));

/// The encoder of a model that sees images, as a model of its own.
ModelDescription tower_description(const ModelDescription& description);

}  // namespace mpitron::convert
