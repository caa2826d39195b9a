#pragma once
#include "convert/description/config_reading.h"

namespace mpitron::convert {

// config.json of decoders: what only they have, beside vocabulary and type.

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
