#pragma once
#include "nn/base/layer_costs.h"

namespace mpitron::nn {

/// The reference counts operations of a mixer of twice the hidden size, whatever its heads say.
LayerCosts mamba_costs(const config::ModelConfig& model);

LayerCosts delta_net_costs(const config::ModelConfig& model);

}  // namespace mpitron::nn
