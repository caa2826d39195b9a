#pragma once
#include "convert/description/config_reading.h"

namespace mpitron::convert {

// config.json of models with an encoder: what only they have, beside vocabulary and type.

void read_megatron_bert(ConfigReading& reading);
void write_megatron_bert(const ModelDescription& description, JsonObject& json);

void read_t5(ConfigReading& reading);
void write_t5(const ModelDescription& description, JsonObject& json);

}  // namespace mpitron::convert
