// Keeps what a chunk has of each microbatch between its passes: its tape, its inputs and outputs.
// Entries are used again by later microbatches, so that a steady step allocates none.
#include "train/step/microbatch_states.h"

namespace mpitron::train {

MicrobatchStates::MicrobatchStates(device::Device& device, Index offloaded_layers)
    : device_(device),
      offloaded_layers_(device.tensors_on_host() ? 0 : offloaded_layers),
      lanes_{device::make_copy_lane(device.stream()), device::make_copy_lane(device.stream())} {}

/// Takes a state that is not in use, or makes one; its tape keeps the memory of the microbatch
/// before.
MicrobatchState& MicrobatchStates::start(Index chunk, Index microbatch) {
  std::unique_ptr<MicrobatchState>& state = in_flight_[{chunk, microbatch}];
  MPITRON_CHECK(state == nullptr, chunk, microbatch);
  if (!spare_.empty()) {
    state = std::move(spare_.back());
    spare_.pop_back();
    return *state;
  }
  state = std::make_unique<MicrobatchState>();
  if (offloaded_layers_ > 0) {
    state->offload.emplace(device_, lanes_,
                           autograd::ActivationOffload::Limits{.layers = offloaded_layers_});
  }
  return *state;
}

void MicrobatchStates::finish(Index chunk, Index microbatch) {
  spare_.push_back(std::move(in_flight_.extract({chunk, microbatch}).mapped()));
}

}  // namespace mpitron::train
