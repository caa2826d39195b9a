#pragma once
#include <optional>

#include "pipeline/executor.h"
#include "train/step/stage_passes.h"

namespace mpitron::train {

/// Runs the forward and backward passes of this rank's chunks over the microbatches of one step, in
/// the order of a pipeline schedule, or as a recorded graph of them.
class StageRunner {
 public:
  struct Options {
    pipeline::HiddenState hidden;  // what travels between stages
    StagePasses::Options passes = {};
    pipeline::ScheduleOptions schedule;  // microbatches and forward_only are set for each run
    /// Steps before one is recorded as a graph and replayed; absent: none is.
    std::optional<Index> graph_warmup_steps = std::nullopt;
  };

  StageRunner(device::Device& device, TrainedModel& model, parallel::DataParallel& replicas,
              const Options& options, Timers& timers);

  /// The sums of this rank's microbatches, of each objective; zero on ranks without the output
  /// layer.
  std::vector<LossSums> run(const BatchPass& pass, const NextMicrobatch& next);
  /// Forgets what was recorded.
  void kernels_changed();
  /// Returns what this rank's layers told of their own losses in the last run.
  const autograd::LayerSums& layer_sums() const { return layer_sums_; }

 private:
  const pipeline::ActionList& actions(const BatchPass& pass);
  /// Queues all passes over the microbatches on the device or to come.
  StepGraph::Sums play(const BatchPass& pass);
  /// Returns the same sums from a graph, once it is recorded.
  StepGraph::Sums replay(const BatchPass& pass);

  device::Device& device_;
  TrainedModel& model_;
  Options options_;
  StagePasses passes_;
  pipeline::Executor executor_;
  std::optional<pipeline::Schedule> schedule_;  // the last one played
  std::optional<StepGraph> graph_;
  autograd::LayerSums layer_sums_;
};

}  // namespace mpitron::train
