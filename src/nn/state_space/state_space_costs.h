#pragma once
#include "config/layer_pattern.h"
#include "nn/base/layer_work.h"

namespace mpitron::nn {

/// The reference counts operations of a mixer of twice the hidden size, whatever its heads say.
LayerCosts mamba_costs(const config::ModelConfig& model);

LayerCosts delta_net_costs(const config::ModelConfig& model);

LayerWork mamba_work(const config::ModelConfig& model, const config::LayerSpec& spec);
LayerWork delta_net_work(const config::ModelConfig& model, const config::LayerSpec& spec);

}  // namespace mpitron::nn
