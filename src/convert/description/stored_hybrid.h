#pragma once
#include "convert/description/stored_options.h"

namespace mpitron::convert {

/// Layers by letters, Mamba mixers, delta nets, and what came with them: gates of attention's
/// output and of the shared expert. Reads `model`'s layers, width and experts; letters set the
/// number of layers.
void read_hybrid(const StoredOptions& options, config::ModelConfig& model);
void write_hybrid(const config::ModelConfig& model, JsonObject& json);

}  // namespace mpitron::convert
