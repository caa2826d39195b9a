#pragma once
#include <string>
#include <vector>

#include "comm/groups/world.h"
#include "config/run_config.h"
#include "device/device.h"
#include "plan/dry_run/job_player.h"
#include "plan/machine/measured_costs.h"

namespace mpitron::plan {

/// Returns small programs of plain GPT and of Llama-like models, in fp32 and in bf16.
std::vector<config::RunConfig> calibration_programs();

/// Times the kernels of these programs and the operations among the ranks of `world`, all of which
/// call this together: a rank's kernels are timed while the others are at the same ones. Rank 0's
/// figures count.
MeasuredCosts calibrate(device::Device& device, comm::World& world,
                        const std::vector<config::RunConfig>& programs);

/// Returns the step of a run on the machine of these costs: its program is replayed for every
/// stage, each launch taking its measured time, and the records are played against each other.
PlayedJob measured_step(const MeasuredCosts& costs, const config::RunConfig& run);

}  // namespace mpitron::plan
