#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "autograd/activation_offload.h"
#include "autograd/deferred_gradients.h"
#include "autograd/segmented_tape.h"
#include "train/step/objective_sums.h"

namespace mpitron::train {

/// State that a chunk keeps of a microbatch between its passes.
struct MicrobatchState {
  autograd::SegmentedTape tape;
  autograd::DeferredGradients weights;  // what `backward_weight` adds, or what is delayed
  std::optional<autograd::ActivationOffload> offload = std::nullopt;
  autograd::Slot input;
  std::vector<PassOutput> outputs;
  autograd::SamplePosition position;
  autograd::AuxiliaryLosses auxiliary;
};

/// States of the microbatches in flight; the memory of finished ones is used again.
class MicrobatchStates {
 public:
  /// `offloaded_layers`: of a chunk, whose activations wait in the host's memory.
  MicrobatchStates(device::Device& device, Index offloaded_layers);

  MicrobatchState& start(Index chunk, Index microbatch);
  MicrobatchState& at(Index chunk, Index microbatch) { return *in_flight_.at({chunk, microbatch}); }
  void finish(Index chunk, Index microbatch);

 private:
  device::Device& device_;
  Index offloaded_layers_;
  autograd::OffloadLanes lanes_;  // null where tensors lie in the host's memory
  std::map<std::pair<Index, Index>, std::unique_ptr<MicrobatchState>> in_flight_;
  std::vector<std::unique_ptr<MicrobatchState>> spare_;
};

}  // namespace mpitron::train
