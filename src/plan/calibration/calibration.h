#pragma once
#include <functional>
#include <string>
#include <vector>

#include "comm/groups/world.h"
#include "config/run_config.h"
#include "device/device.h"
#include "plan/dry_run/job_player.h"
#include "plan/machine/measured_costs.h"

namespace mpitron::plan {

/// How long a calibration may take, and who hears how far it is.
struct CalibrationOptions {
  double seconds = 60;
  /// Rank 0 calls this now and then with a sentence; none: nobody hears.
  std::function<void(const std::string& progress)> tell = {};
};

/// What a calibration has measured.
struct Calibration {
  MeasuredCosts costs;
  std::size_t programs = 0;  // of those given; there was no time for the others
};

/// Times the kernels of these programs, the shortest first, and the operations among the ranks of
/// `world`, all of which call this together: a rank's kernels are timed while the others are at the
/// same ones. Rank 0's figures count.
Calibration calibrate(device::Device& device, comm::World& world,
                      const std::vector<config::RunConfig>& programs,
                      const CalibrationOptions& options = {});

/// Returns the step of a run on the machine of these costs: its program is replayed for every
/// stage, each launch taking its measured time, and the records are played against each other.
PlayedJob measured_step(const MeasuredCosts& costs, const config::RunConfig& run);

}  // namespace mpitron::plan
