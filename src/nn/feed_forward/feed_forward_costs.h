#pragma once
#include "nn/base/layer_costs.h"

namespace mpitron::nn {

LayerCosts mlp_costs(const config::ModelConfig& model);

/// Operations are those of the experts that a token visits; the reference counts activations as if
/// the layer were dense.
LayerCosts experts_costs(const config::ModelConfig& model);

}  // namespace mpitron::nn
