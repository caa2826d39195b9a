#pragma once
#include "config/model_config.h"
#include "ops/attention/rotary.h"

namespace mpitron::nn {

/// cos and sin of positions 0 .. s-1 in `dtype` (the reference casts them to the activations'
/// type), on the device.
ops::RotaryTables make_rotary_tables(device::Device& device, const config::ModelConfig& config,
                                     Index s, DType dtype);

}  // namespace mpitron::nn
