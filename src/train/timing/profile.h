#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "comm/groups/world.h"
#include "config/training_config.h"
#include "device/launch_observers.h"

namespace mpitron::train {

/// Records steps for --profile: those behind --profile-step-start up to --profile-step-end on
/// --profile-ranks, into one file a rank in --profile-dir. Costs nothing where it is off.
class Profile {
 public:
  /// `trace`: what the world's operations are added to; null: none of them. All ranks make it
  /// together (their clocks are compared). Error(usage) where a rank is named that there is not,
  /// Error(data) where the folder cannot be made.
  Profile(device::Device& device, comm::World& world, const config::TrainingConfig& config,
          std::shared_ptr<Trace> trace = nullptr);
  /// Writes what there is where the run ends in the middle.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  Trace* trace() const { return trace_.get(); }
  void begin_step(Index iteration);
  void end_step(Index iteration);

 private:
  void try_to_write();
  void write();

  device::Device& device_;
  comm::World& world_;
  const config::TrainingConfig config_;
  std::shared_ptr<Trace> trace_;
  bool takes_part_ = false;
  comm::ClockOffset clock_;
  std::unique_ptr<TraceRanges> gpu_profiler_;
  std::optional<device::LaunchTrace> launches_;
  std::int64_t step_began_ = 0;
  Index first_ = 0, last_ = 0;  // of the iterations recorded so far
};

}  // namespace mpitron::train
