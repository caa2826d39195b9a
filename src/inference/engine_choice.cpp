#include "inference/engine_choice.h"

#include <algorithm>
#include <array>

#include "config/layer_pattern.h"
#include "inference/cached_engine.h"
#include "inference/uncached_engine.h"

// Which engine a model runs on: the cached one where every layer has a cached path, else the one
// that runs whole texts again.

namespace mpitron::inference {

namespace {

constexpr Index kUsualBlock = 16;  // of a cache, in positions

}  // namespace

std::string no_cached_path(const config::ModelConfig& config) {
  if (!config.family().generates()) {
    return "only models with a decoder have one";
  }
  if (config.lora && config.multi_latent_attention) {
    return "low-rank updates of latent attention have none";
  }
  if (config.indexer) {
    return "sparse attention has none";
  }
  if (config.attention_chunk_size.value_or(0) % kUsualBlock != 0) {
    return fmt::format("blocks of {} positions do not fill its chunks of {}", kUsualBlock,
                       *config.attention_chunk_size);
  }
  return "";
}

/// A warp keeps the sums of a head's values in registers: 16 of each lane.
std::string no_path_on_gpu(const config::ModelConfig& config) {
  constexpr Index kMostValues = 512;
  const Index values = config.multi_latent_attention ? config.kv_lora_rank : config.kv_channels;
  if (values > kMostValues) {
    return fmt::format(
        "its values have {} numbers for a head and position, a GPU's kernel takes "
        "{}",
        values, kMostValues);
  }
  return "";
}

/// A graph repeats the numbers in its kernels' arguments: rows of experts and places of states are
/// such numbers.
std::string no_recorded_steps(const config::ModelConfig& config) {
  return config.moe ? "a step waits for the rows of its experts"
         : config::keeps_states(config, 1, config.all_layers())
             ? "layers with states read other places in each step"
         : config.family().encoder_decoder ? "a step looks at what an encoder has left"
         : !no_cached_path(config).empty() ? "it runs without a cache"
                                           : "";
}

std::string no_state_types(const config::ModelConfig& config, bool on_host) {
  return states_for(config, 1) == 0 ? "no layer of the model carries a state"
         : !on_host ? "on a GPU a convolution's state has the model's type, and others fp32"
                    : "";
}

/// By the name of its layer: encoders of images run without a cache, the up projection of latents
/// is taken apart for its heads, and a tied table is looked up, too.
bool in_products_alone(const autograd::Parameter& parameter) {
  constexpr auto kLayers = std::to_array<std::string_view>(
      {"linear_qkv", "linear_q", "linear_kv", "linear_proj", "linear_fc1", "linear_fc2",
       "linear_q_proj", "linear_q_down_proj", "linear_q_up_proj", "linear_kv_down_proj", "in_proj",
       "out_proj", "eh_proj", "output_layer"});
  constexpr std::string_view kWeight = ".weight";
  std::string_view name = parameter.name;
  if (!name.ends_with(kWeight) || name.starts_with("vision_model.")) {
    return false;
  }
  name.remove_suffix(kWeight.size());
  return std::ranges::count(kLayers, name.substr(name.rfind('.') + 1)) > 0;
}

/// One for the state in front of a step and one for that behind it.
Index states_for(const config::ModelConfig& config, Index slots) {
  return config::keeps_states(config, 1, config.all_layers()) ? 2 * slots : 0;
}

std::unique_ptr<Engine> make_engine(device::Device& device, const models::Model& model,
                                    EngineShape shape, Index vocabulary) {
  if (no_cached_path(model.config()).empty()) {
    shape.states = states_for(model.config(), shape.slots);
    shape.snapshots = shape.states > 0 ? shape.snapshots : 0;
    return std::make_unique<CachedEngine>(device, model, shape, vocabulary);
  }
  return std::make_unique<UncachedEngine>(device, model, shape, vocabulary);
}

}  // namespace mpitron::inference
