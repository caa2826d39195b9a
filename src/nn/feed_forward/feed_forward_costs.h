#pragma once
#include "config/layer_pattern.h"
#include "nn/base/layer_work.h"

namespace mpitron::nn {

LayerCosts mlp_costs(const config::ModelConfig& model);

/// Operations are those of the experts that a token visits; the reference counts activations as if
/// the layer were dense.
LayerCosts experts_costs(const config::ModelConfig& model);

LayerWork mlp_work(const config::ModelConfig& model, const config::LayerSpec& spec);
LayerWork experts_work(const config::ModelConfig& model, const config::LayerSpec& spec);

}  // namespace mpitron::nn
