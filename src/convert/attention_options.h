#pragma once
#include "config/model_config.h"
#include "convert/stored_options.h"

namespace mpitron::convert {

/// Positions and latent attention of a model.
void read_attention(const StoredOptions& options, config::ModelConfig& model);
void write_attention(const config::ModelConfig& model, JsonObject& json);

}  // namespace mpitron::convert
