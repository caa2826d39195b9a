#pragma once
#include <vector>

#include "comm/groups/world.h"
#include "config/run_config.h"
#include "device/device.h"
#include "plan/calibration/launch_times.h"
#include "utils/numbers/median.h"

namespace mpitron::plan {

/// Times the kernels of programs, on all ranks of a world at once: a rank's kernels are timed while
/// the others are at the same ones.
class ProgramTimer {
 public:
  ProgramTimer(device::Device& device, comm::World& world) : device_(device), world_(world) {}

  /// Times steps of one rank of a program, its peers left out, behind a microbatch that makes it
  /// ready: at least one step, more until two agree or `seconds` are over. All ranks of the world
  /// call this together, and do as many steps. Returns the seconds that it took.
  double time(const config::RunConfig& run, Index rank, double seconds);

  /// Returns the seconds of a step of a program whose ranks are those of the world, and meet: the
  /// median of a few behind the first, of the slowest rank, as many as `seconds` allow.
  double step_together(const config::RunConfig& run, double seconds);

  const LaunchTimes& times() const { return times_; }
  /// Returns the median of the seconds around a launch, of all steps so far.
  double around_launch() const { return median(around_); }
  Index steps() const { return static_cast<Index>(around_.size()); }

 private:
  device::Device& device_;
  comm::World& world_;
  LaunchTimes times_;
  std::vector<double> around_;  // of each step: seconds outside of kernels, by launches
};

}  // namespace mpitron::plan
