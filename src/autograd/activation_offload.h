#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "autograd/context.h"
#include "device/copy.h"
#include "tensor/movable_memory.h"
#include "tensor/tensors_made.h"

namespace mpitron::autograd {

/// Lanes on which activations go to the host and come back, each way beside the other; for all
/// tapes of a device.
struct OffloadLanes {
  std::unique_ptr<device::CopyLane> to_host, to_device;
};

/// Keeps what the first layers of a tape save in the host's memory between their passes
/// (--cpu-offloading-num-layers). What a layer saves is what it was given and what it made and
/// somebody still has at its end, but for its output, which is the next one's input. It travels
/// while the next layer computes, and comes back while the one behind it is played; small tensors
/// stay. No value changes: a copy goes and the same bits return, maybe to another place.
class ActivationOffload {
 public:
  struct Limits {
    Index layers = 0;                   // of this tape, the first ones
    Index min_bytes = Index{64} << 10;  // of a tensor's block
  };
  /// `device`: with memory of its own. `lanes` outlives this.
  ActivationOffload(device::Device& device, OffloadLanes& lanes, const Limits& limits)
      : device_(device), lanes_(lanes), limits_(limits) {}

  /// block(context, x), a layer; its turn is that of the call.
  template <class Block>
  Var run(Context& context, Block&& block, const Var& x);
  /// The forward pass is over: what is still on its way leaves the device.
  void end_forward();

 private:
  struct Layer {
    std::vector<tensor::MovableMemory> tensors;
    std::vector<Tensor> copies;     // page-locked, as many
    Index leaves = 0, arrives = 0;  // marks of the lanes; 0: waited for, or not begun
  };

  void send_away(const std::vector<Tensor>& made, const Tensor& input, const Tensor& output);
  /// The device's memory of a layer is free for what is queued from now on.
  void settle(Layer& layer);
  void call_back(Layer& layer);
  /// The layer of the `turn`-th call is about to be played.
  void before_backward(std::size_t turn);

  device::Device& device_;
  OffloadLanes& lanes_;
  const Limits limits_;
  std::size_t turns_ = 0;  // of this forward pass
  std::deque<Layer> layers_;
};

template <class Block>
Var ActivationOffload::run(Context& context, Block&& block, const Var& x) {
  if (!context.recording()) {
    return block(context, x);
  }
  const std::size_t turn = turns_++;
  Var y;
  if (turn < static_cast<std::size_t>(limits_.layers)) {
    const tensor::TensorsMade made(device_.allocator());
    y = block(context, x);
    send_away(made.alive(), x.value, y.value);
  } else {
    y = block(context, x);
    end_forward();
  }
  context.record_always([this, turn](Context&) { before_backward(turn); });
  return y;
}

}  // namespace mpitron::autograd
