#include "pipeline/executor.h"

namespace mpitron::pipeline {

using tensor::Tensor;

Executor::Executor(comm::World& world, device::Device& device, const std::vector<Index>& ranks)
    : world_(world),
      device_(device),
      activations_(world.make_group("pipeline-activations", ranks)),
      gradients_(world.make_group("pipeline-gradients", ranks)) {}

void Executor::play(const ActionList& actions, const StepCallbacks& callbacks,
                    const HiddenState& hidden) {
  hidden_ = hidden;
  for (const Action& action : actions) {
    perform(action, callbacks);
  }
  MPITRON_CHECK(received_.empty() && to_send_.empty(), received_.size(), to_send_.size());
}

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
      message.work = group(action.payload).send(message.tensor.view(), action.peer_stage);
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
  message.work = group(action.payload).receive(message.tensor.view(), action.peer_stage);
}

Tensor Executor::take(Payload payload, const Action& action) {
  const auto node = received_.extract({payload, action.chunk, action.microbatch});
  return node ? std::move(node.mapped().tensor) : Tensor();
}

void Executor::forward(const Action& action, const StepCallbacks& callbacks) {
  Tensor output =
      callbacks.forward(action.chunk, action.microbatch, take(Payload::activation, action));
  if (output) {
    to_send_[{Payload::activation, action.chunk, action.microbatch}].tensor = std::move(output);
  }
  world_.progress();
}

void Executor::backward(const Action& action, const StepCallbacks& callbacks) {
  Tensor gradient =
      callbacks.backward(action.chunk, action.microbatch, take(Payload::gradient, action),
                         action.kind == ActionKind::backward);
  if (gradient) {
    to_send_[{Payload::gradient, action.chunk, action.microbatch}].tensor = std::move(gradient);
  }
  world_.progress();
}

}  // namespace mpitron::pipeline
