#pragma once
#include <deque>
#include <functional>

#include "autograd/parameter_list.h"
#include "device/graph.h"
#include "train/microbatch.h"

namespace mpitron::train {

/// Replays the passes of a step from a graph of the GPU (--enable-cuda-graph). The first steps run
/// as they are, then one is recorded. What is written into the arguments of kernels must be the
/// same in every step; where it is not, the step is recorded anew.
class StepGraph {
 public:
  using Microbatches = std::deque<DeviceMicrobatch>;
  /// Of each objective, of each microbatch: what ops::sum_tokens gave.
  using TokenSums = std::vector<std::vector<tensor::Tensor>>;
  /// Queues the passes of all microbatches.
  using Passes = std::function<TokenSums(Microbatches)>;

  StepGraph(device::Device& device, autograd::ParameterList& parameters, Index warmup_steps)
      : device_(device), parameters_(parameters), warmup_steps_(warmup_steps) {}

  /// What the passes would return, with values once the device has come there; valid until the
  /// next call.
  TokenSums run(double seed_scale, const Microbatches& microbatches, const Passes& passes);
  /// How often a step was recorded.
  Index recordings() const { return recordings_; }

 private:
  /// What kernels are given as numbers.
  struct Constants {
    double seed_scale = 0;
    std::vector<double> loss_tokens;  // of each microbatch
    bool operator==(const Constants&) const = default;
  };
  bool observed() const;
  /// Brings the microbatches to where the graph reads them.
  void fill(const Microbatches& microbatches);
  void record(const Constants& constants, const Passes& passes);

  device::Device& device_;
  autograd::ParameterList& parameters_;
  Index warmup_steps_;
  Index recordings_ = 0;
  Constants constants_;
  Microbatches inputs_;
  TokenSums sums_;
  std::vector<bool> written_;  // gradients, by parameter: what the passes note on the host
  std::unique_ptr<device::Graph> graph_;
};

}  // namespace mpitron::train
