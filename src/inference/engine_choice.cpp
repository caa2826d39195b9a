#include "inference/engine_choice.h"

#include "config/layer_pattern.h"
#include "inference/cached_engine.h"
#include "inference/uncached_engine.h"

namespace mpitron::inference {

std::string no_cached_path(const config::ModelConfig& config) {
  if (!config.family().decoder_only) {
    return "only decoders have one";
  }
  for (Index number = 1; number <= config.all_layers(); ++number) {
    const config::MixerKind mixer = config::layer_spec(config, number).mixer;
    if (config::facts(mixer).state == config::LayerState::recurrent) {
      return "layers that keep a state instead of keys have none";
    }
  }
  return "";
}

std::unique_ptr<Engine> make_engine(device::Device& device, const models::Model& model,
                                    const EngineShape& shape, Index vocabulary) {
  if (no_cached_path(model.config()).empty()) {
    return std::make_unique<CachedEngine>(device, model, shape, vocabulary);
  }
  return std::make_unique<UncachedEngine>(device, model, shape, vocabulary);
}

}  // namespace mpitron::inference
