#pragma once
#include "convert/description/config_reading.h"

namespace mpitron::convert {

// config.json of decoders: what only they have, beside vocabulary and type.

/// Sizes by Llama's names, rotary positions, RMS norms, gated feed-forward layers, whether the
/// output is tied.
void read_modern(ConfigReading& reading);
/// How many heads keys have, and how wide heads are.
void read_query_groups(ConfigReading& reading);
/// What both read, but for the output.
void write_modern(const config::ModelConfig& model, JsonObject& json);
/// The base of rotary positions and how they are stretched; not YaRN.
void read_rotary(ConfigReading& reading);
void write_rotary(const config::ModelConfig& model, JsonObject& json);

void read_gpt2(ConfigReading& reading);
void write_gpt2(const ModelDescription& description, JsonObject& json);

/// Llama, Mistral, Qwen2.
void read_llama(ConfigReading& reading);
void write_llama(const ModelDescription& description, JsonObject& json);

void read_mixtral(ConfigReading& reading);
void write_mixtral(const ModelDescription& description, JsonObject& json);

/// Positions stretched by YaRN also scale the scores, as in DeepSeek's own code.
void read_deepseek_v2(ConfigReading& reading);
void write_deepseek_v2(const ModelDescription& description, JsonObject& json);

}  // namespace mpitron::convert
