#pragma once
#include <deque>
#include <functional>

#include "autograd/auxiliary_losses.h"
#include "autograd/parameter_list.h"
#include "comm/groups/parallel_groups.h"
#include "device/device.h"
#include "train/batches/microbatch.h"

namespace mpitron::train {

/// Replays the passes of a step from a graph of the GPU (--enable-cuda-graph). The first steps run
/// as they are, then one is recorded. What is written into the arguments of kernels must be the
/// same in every step; where it is not, the step is recorded anew. What random numbers depend on is
/// no argument: kernels read it from memory that is set before each replay. All ranks record at the
/// same step, because what NCCL does for a graph may need its peers.
class StepGraph {
 public:
  using Microbatches = std::deque<DeviceMicrobatch>;
  /// Sums of each objective, of each microbatch: what ops::sum_tokens gave.
  using TokenSums = std::vector<std::vector<tensor::Tensor>>;
  /// Sums over the passes of a step.
  struct Sums {
    TokenSums tokens;
    autograd::LayerSums layers;
  };
  /// Queues the passes of all microbatches.
  using Passes = std::function<Sums(Microbatches)>;
  struct Step {
    double seed_scale = 1;
    std::uint64_t key = 0;  // step_key(seed, iteration)
  };

  /// `all`: the ranks that step together.
  StepGraph(device::Device& device, autograd::ParameterList& parameters, comm::GroupHandle all,
            Index warmup_steps)
      : device_(device),
        parameters_(parameters),
        all_(std::move(all)),
        warmup_steps_(warmup_steps) {}

  /// Returns what the passes would return, with values once the device has come there; valid until
  /// the next call.
  Sums run(const Step& step, const Microbatches& microbatches, const Passes& passes);
  /// The next step is recorded anew.
  void forget() { graph_.reset(); }
  /// How often a step was recorded.
  Index recordings() const { return recordings_; }

 private:
  /// Numbers that kernels are given by value: a graph that was recorded with others cannot be used.
  struct Constants {
    double seed_scale = 0;
    std::vector<double> loss_tokens;  // of each microbatch
    bool operator==(const Constants&) const = default;
  };
  enum class Way { replay, record, run };
  /// How the ranks make a step, the last of what they want.
  Way agree(Way wanted) const;
  bool observed() const;
  /// Brings the microbatches, and what their random numbers depend on, to where the graph reads
  /// them.
  void fill(std::uint64_t step_key, const Microbatches& microbatches);
  void record(const Constants& constants, const Passes& passes);

  device::Device& device_;
  autograd::ParameterList& parameters_;
  comm::GroupHandle all_;
  Index warmup_steps_;
  Index recordings_ = 0;
  Constants constants_;
  Microbatches inputs_;
  tensor::Tensor numbers_;  // a StepNumbers for each microbatch, as bytes
  Sums sums_;
  std::vector<bool> written_;  // gradients, by parameter: what the passes note on the host
  std::unique_ptr<device::Graph> graph_;
};

}  // namespace mpitron::train
