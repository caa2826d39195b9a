#pragma once
#include "convert/description/config_reading.h"

namespace mpitron::convert {

// config.json of decoders some of whose layers carry a state instead of attention.

/// Read and write delta nets between layers of gated attention, experts behind each.
void read_qwen3_next(ConfigReading& reading);
void write_qwen3_next(const ModelDescription& description, JsonObject& json);

/// Read and write models of Mamba mixers alone.
void read_mamba2(ConfigReading& reading);
void write_mamba2(const ModelDescription& description, JsonObject& json);

/// Read and write Mamba mixers, attention and MLPs: the letters M, * and -.
void read_nemotron_h(ConfigReading& reading);
void write_nemotron_h(const ModelDescription& description, JsonObject& json);

/// Kinds of layers, as Qwen3-Next's file names them.
inline constexpr const char *kLinear = "linear_attention", *kFull = "full_attention";

}  // namespace mpitron::convert
