#pragma once
#include <optional>

#include "config/model_config.h"
#include "convert/stored_options.h"

namespace mpitron::convert {

/// The options of experts; nothing for a model without. Reads `model`'s layers and width.
std::optional<config::MoeConfig> read_experts(const StoredOptions& options,
                                              const config::ModelConfig& model);
void write_experts(const config::MoeConfig& moe, JsonObject& json);

}  // namespace mpitron::convert
