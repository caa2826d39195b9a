#include "pipeline/executor.h"

// Plays a stage's list of actions. All decisions were made when the schedule was; here a
// computation is a call of the model, and a message an operation of the pipeline's group.

namespace mpitron::pipeline {

using tensor::Tensor;

namespace {

/// The computation that needs a message: its chunk on the receiver's stage, and its microbatch.
Index label_of(Index chunk, Index microbatch) {
  return (chunk << 32) + microbatch + 1;
}

}  // namespace

Executor::Executor(comm::World& world, device::Device& device, const std::vector<Index>& ranks)
    : world_(world),
      device_(device),
      activations_(world.make_group("pipeline-activations", ranks)),
      gradients_(world.make_group("pipeline-gradients", ranks)) {}

void Executor::play(const ActionList& actions, const StepCallbacks& callbacks,
                    const HiddenState& hidden) {
  hidden_ = hidden;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].joined) {
      perform_joined(&actions[i++], callbacks);
    } else {
      perform(actions[i], callbacks);
    }
  }
  MPITRON_CHECK(received_.empty() && to_send_.empty(), received_.size(), to_send_.size());
}

/// Computations become calls, everything else an operation of the pipeline group.
void Executor::perform(const Action& action, const StepCallbacks& callbacks) {
  switch (action.kind) {
    case ActionKind::forward:
      return forward(action, callbacks);
    case ActionKind::backward:
    case ActionKind::backward_input:
      return backward(action, callbacks);
    case ActionKind::backward_weight:
      callbacks.backward_weight(action.chunk, action.microbatch);
      return world_.progress();
    case ActionKind::receive:
      return post_receive(action);
    case ActionKind::wait_receive:
      return received_.at(key(action)).work.wait();
    case ActionKind::send: {
      Message& message = to_send_.at(key(action));
      message.work = group(action.payload)
                         .send(message.tensor.view(), action.peer_stage,
                               label_of(action.peer_chunk, action.microbatch));
      return;
    }
    case ActionKind::wait_send:
      to_send_.at(key(action)).work.wait();
      to_send_.erase(key(action));
      return;
  }
}

void Executor::post_receive(const Action& action) {
  Message& message = received_[key(action)];
  message.tensor = Tensor::empty(device_, hidden_.shape, hidden_.dtype);
  message.work = group(action.payload)
                     .receive(message.tensor.view(), action.peer_stage,
                              label_of(action.chunk, action.microbatch));
}

/// Hands over what a message has brought, or what the chunk before on this same stage has kept.
Tensor Executor::take(Payload payload, const Action& action) {
  const auto node = received_.extract({payload, action.chunk, action.microbatch});
  return node ? std::move(node.mapped().tensor) : Tensor();
}

/// Holds a result until its message is sent or the next chunk of this stage takes it.
void Executor::keep(Payload payload, const Action& action, Tensor made) {
  if (made) {
    to_send_[{payload, action.chunk, action.microbatch}].tensor = std::move(made);
  }
}

void Executor::forward(const Action& action, const StepCallbacks& callbacks) {
  keep(Payload::activation, action,
       callbacks.forward(action.chunk, action.microbatch, take(Payload::activation, action)));
  world_.progress();
}

void Executor::backward(const Action& action, const StepCallbacks& callbacks) {
  keep(Payload::gradient, action,
       callbacks.backward(action.chunk, action.microbatch, take(Payload::gradient, action),
                          action.kind == ActionKind::backward));
  world_.progress();
}

/// A forward and a backward pass that run by turns, each while the other waits for its experts.
void Executor::perform_joined(const Action* pair, const StepCallbacks& callbacks) {
  const Action &forward = pair[0], &backward = pair[1];
  auto [output, gradient] = callbacks.forward_and_backward(
      {forward.chunk, forward.microbatch, take(Payload::activation, forward)},
      {backward.chunk, backward.microbatch, take(Payload::gradient, backward)});
  keep(Payload::activation, forward, std::move(output));
  keep(Payload::gradient, backward, std::move(gradient));
  world_.progress();
}

}  // namespace mpitron::pipeline
