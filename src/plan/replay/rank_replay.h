#pragma once
#include <functional>
#include <string>
#include <vector>

#include "comm/worlds/recording_world.h"
#include "config/run_config.h"
#include "device/launch.h"
#include "train/step/train_step.h"

namespace mpitron::plan {

/// Bytes of a rank's tensors, as its allocator hands them out: with size classes, and without what
/// no tensor holds (libraries, threads' scratch, buffers of communicators).
struct ReplayedMemory {
  Index parameters = 0;
  Index gradients = 0;
  Index optimizer = 0;  // and whatever else lives from step to step
  Index peak = 0;       // the allocator's high-water mark
  Index reserved = 0;   // taken from the system, with what is kept for later requests

  Index state() const { return parameters + gradients + optimizer; }
  Index activations() const { return peak - state(); }  // and scratch, at the peak
};

/// A kernel as the program launches it.
struct ReplayedLaunch {
  std::string kernel;
  std::string arguments;  // names, types and shapes
};

/// The result of a replay: memory, communication, launches.
struct RankReplay {
  Index rank = 0;
  ReplayedMemory memory;
  /// Elements of each sum beside the replicas' (train::GradientCompletion): they depend on which
  /// part of the gradients is this rank's.
  std::vector<Index> completed = {};
  std::uint64_t parameters = 0;  // a hash of their sizes, types and places, in order
  comm::RankRecord record;       // from the making of the model to the end of the last step
  std::size_t launches = 0;
  std::size_t peak_launch = 0;  // the launch in front of which the peak was reached
  std::string peak_kernel;
  std::vector<ReplayedLaunch> kernels;  // where they are asked for
};

struct ReplayOptions {
  Index steps = 1;
  bool lists_kernels = false;
  /// Seconds of a launch, which add up to the record's; none: 0.
  std::function<double(const device::LaunchRecord& record)> seconds = {};
};

/// Returns made-up microbatches of this rank's share, with all columns that a run's own have. The
/// model outlives the function's result.
train::NextMicrobatch made_up_batches(const config::RunConfig& run,
                                      const train::TrainedModel& model);

/// Replays the program of one rank of a run: its model, gradients, optimizer and `steps` steps, as
/// training makes them, on a device that runs nothing and in a world without peers. The vocabulary
/// is known. Error(usage) for models of texts with images.
RankReplay replay_rank(const config::RunConfig& run, Index rank, const ReplayOptions& options = {});

}  // namespace mpitron::plan
