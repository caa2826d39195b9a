#pragma once
#include "config/option_values.h"
#include "config/run_config.h"

namespace mpitron::config {

/// Turns derived option values into the structs. Total: required values that are missing become 0,
/// for the constraints to tell.
RunConfig resolve(const OptionValues& values);

}  // namespace mpitron::config
