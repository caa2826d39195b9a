#include "inference/engine_choice.h"

#include "config/layer_pattern.h"
#include "inference/cached_engine.h"
#include "inference/uncached_engine.h"

namespace mpitron::inference {

namespace {

/// Whether a layer, or one of a depth of prediction, carries something else than keys and values
/// from position to position.
bool keeps_states(const config::ModelConfig& config) {
  for (Index number = 1; number <= config.layers_and_depths(); ++number) {
    const config::MixerKind mixer = config::layer_spec(config, number).mixer;
    if (config::facts(mixer).state == config::LayerState::recurrent) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string no_cached_path(const config::ModelConfig& config) {
  if (!config.family().generates()) {
    return "only models with a decoder have one";
  }
  if (config.lora && config.multi_latent_attention) {
    return "low-rank updates of latent attention have none";
  }
  return keeps_states(config) ? "layers that keep a state instead of keys have none" : "";
}

std::unique_ptr<Engine> make_engine(device::Device& device, const models::Model& model,
                                    EngineShape shape, Index vocabulary) {
  if (no_cached_path(model.config()).empty()) {
    // One for the state in front of a step and one for that behind it.
    shape.states = keeps_states(model.config()) ? 2 * shape.slots : 0;
    return std::make_unique<CachedEngine>(device, model, shape, vocabulary);
  }
  return std::make_unique<UncachedEngine>(device, model, shape, vocabulary);
}

}  // namespace mpitron::inference
