#pragma once
#include "convert/config_changes.h"

// Folders of image encoders alone, made of the tiny LLaVA.

namespace mpitron::test {

inline const std::string kEncoderPrefix = "vision_model.";

/// The encoder as CLIPVisionModel is stored, or with words beside it; names begin with `prefix`.
inline void write_encoder(const std::filesystem::path& folder, bool with_words,
                          const std::string& prefix = kEncoderPrefix) {
  const std::string of_llava = "vision_tower." + kEncoderPrefix;
  ReferenceModel llava = reference_model("llava");
  MemorySource encoder;
  for (const convert::TensorInfo& info : llava.weights.tensors()) {
    if (info.name.starts_with(of_llava)) {
      encoder.add(prefix + info.name.substr(of_llava.size()), info.shape,
                  floats_of(llava.weights.read(info.name)));
    }
  }
  Json config = Json::parse(llava.config).at("vision_config");
  if (with_words) {
    encoder.add("text_model.embeddings.token_embedding.weight", {3, 4});
    config = {{"model_type", "clip"}, {"vision_config", config}};
  }
  std::filesystem::create_directories(folder);
  write_text(folder / "config.json", config.dump());
  write_tensors(folder, encoder);
}

/// The same without the class token and the norm in front, with what only SigLIP has.
inline void write_siglip(const std::filesystem::path& folder) {
  write_encoder(folder, false);
  const std::string positions = "embeddings.position_embedding.weight";
  ReferenceModel llava = reference_model("llava");
  MemorySource encoder;
  for (const convert::TensorInfo& info : llava.weights.tensors()) {
    const std::size_t at = info.name.find(kEncoderPrefix);
    const std::string name = at == info.name.npos ? "" : info.name.substr(at);
    if (!name.empty() && !name.ends_with(positions) && name.find("class_emb") == name.npos &&
        name.find("pre_layrnorm") == name.npos) {
      encoder.add(name, info.shape);
    }
  }
  encoder.add(kEncoderPrefix + positions, {4, 16});
  encoder.add(kEncoderPrefix + "embeddings.patch_embedding.bias", {16});
  write_tensors(folder, encoder);
  Json config = Json::parse(read_file(folder / "config.json"));
  config["model_type"] = "siglip_vision_model";
  config.erase("hidden_act");
  config.erase("layer_norm_eps");
  write_text(folder / "config.json", config.dump());
}

}  // namespace mpitron::test
