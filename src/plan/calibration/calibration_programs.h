#pragma once
#include <vector>

#include "config/run_config.h"

namespace mpitron::plan {

/// Returns small programs of plain GPT and of Llama-like models, in fp32 and in bf16, the shortest
/// first: a calibration whose time is over leaves out the last ones.
std::vector<config::RunConfig> calibration_programs();

}  // namespace mpitron::plan
