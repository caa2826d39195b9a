#pragma once
#include <map>
#include <tuple>

#include "comm/groups/world.h"
#include "pipeline/schedule.h"
#include "tensor/tensor.h"

namespace mpitron::pipeline {

using StepCallbacks = StageCallbacks<tensor::Tensor>;

/// How hidden states travel between stages: [s_local, b, h].
struct HiddenState {
  Shape shape;
  DType dtype = DType::f32;
};

/// Plays one stage's list of actions: messages become operations of the pipeline group,
/// computations become calls. It decides nothing; what runs when is the schedule's.
class Executor {
 public:
  /// `ranks`: the pipeline group, first to last stage. Collective over these ranks.
  Executor(comm::World& world, device::Device& device, const std::vector<Index>& ranks);

  /// `hidden`: what every message of this list holds.
  void play(const ActionList& actions, const StepCallbacks& callbacks, const HiddenState& hidden);

 private:
  /// One message: payload, chunk, microbatch.
  using Key = std::tuple<Payload, Index, Index>;
  struct Message {
    tensor::Tensor tensor;
    comm::Work work;
  };

  static Key key(const Action& action) { return {action.payload, action.chunk, action.microbatch}; }
  comm::Group& group(Payload payload) const {
    return payload == Payload::activation ? *activations_ : *gradients_;
  }
  void perform(const Action& action, const StepCallbacks& callbacks);
  /// A forward and the backward behind it.
  void perform_joined(const Action* pair, const StepCallbacks& callbacks);
  void forward(const Action& action, const StepCallbacks& callbacks);
  void backward(const Action& action, const StepCallbacks& callbacks);
  void post_receive(const Action& action);
  /// The received tensor; empty where nothing was received.
  tensor::Tensor take(Payload payload, const Action& action);
  /// Keeps what a computation made for its send; an empty tensor has none.
  void keep(Payload payload, const Action& action, tensor::Tensor made);

  comm::World& world_;
  device::Device& device_;
  // Two groups of the same ranks, so that activations and gradients between two stages never wait
  // for each other.
  std::shared_ptr<comm::Group> activations_, gradients_;
  HiddenState hidden_;
  std::map<Key, Message> received_, to_send_;
};

}  // namespace mpitron::pipeline
