// Sends activations of the first layers to the host and brings them back, in the order in which the
// backward pass wants them. Copies run beside the kernels, behind those that make the elements and
// before those that use them: only the stream and the lanes wait, for each other.
#include "autograd/activation_offload.h"

#include <algorithm>

#include "tensor/host_copy.h"

namespace mpitron::autograd {

void ActivationOffload::send_away(const std::vector<Tensor>& made, const Tensor& input,
                                  const Tensor& output) {
  Layer layer;
  const auto add = [&](const Tensor& tensor) {
    tensor::MovableMemory memory(tensor);
    if (memory.bytes() >= limits_.min_bytes && !memory.holds(output)) {
      layer.tensors.push_back(std::move(memory));
    }
  };
  std::ranges::for_each(made, add);
  add(input);
  lanes_.to_host->follow_stream();
  for (const tensor::MovableMemory& memory : layer.tensors) {
    const Tensor& copy =
        layer.copies.emplace_back(tensor::empty_on_host(device_, {memory.bytes()}, DType::u8));
    lanes_.to_host->copy(copy.view().data, memory.elements(), memory.bytes());
  }
  layer.leaves = lanes_.to_host->mark();
  end_forward();  // of what the layer before it has sent
  layers_.push_back(std::move(layer));
}

void ActivationOffload::end_forward() {
  if (!layers_.empty()) {
    settle(layers_.back());
  }
}

void ActivationOffload::settle(Layer& layer) {
  if (layer.leaves == 0) {
    return;
  }
  lanes_.to_host->let_stream_wait(std::exchange(layer.leaves, 0));
  for (tensor::MovableMemory& memory : layer.tensors) {
    memory.leave();
  }
}

void ActivationOffload::call_back(Layer& layer) {
  if (layer.arrives != 0) {
    return;
  }
  settle(layer);
  for (tensor::MovableMemory& memory : layer.tensors) {
    memory.come_back();
  }
  lanes_.to_device->follow_stream();  // its memory may be what earlier kernels work on
  for (std::size_t i = 0; i < layer.tensors.size(); ++i) {
    const tensor::MovableMemory& memory = layer.tensors[i];
    lanes_.to_device->copy(memory.elements(), layer.copies[i].view().data, memory.bytes());
  }
  layer.arrives = lanes_.to_device->mark();
}

void ActivationOffload::before_backward(std::size_t turn) {
  if (turn < layers_.size()) {
    call_back(layers_.back());
    lanes_.to_device->let_stream_wait(layers_.back().arrives);
    layers_.pop_back();
  }
  if (!layers_.empty() && turn <= layers_.size()) {  // the next one to be played
    call_back(layers_.back());
  }
  turns_ = turn;
}

}  // namespace mpitron::autograd
