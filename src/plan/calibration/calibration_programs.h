#pragma once
#include <vector>

#include "config/run_config.h"

namespace mpitron::plan {

/// Returns small programs of plain GPT and of Llama-like models, in fp32 and in bf16, the shortest
/// first: a calibration whose time is over leaves out the last ones.
std::vector<config::RunConfig> calibration_programs();

/// Returns two of them cut among so many tensor ranks; those that cannot be are left
/// out.
std::vector<config::RunConfig> tensor_programs(Index ranks);

}  // namespace mpitron::plan
