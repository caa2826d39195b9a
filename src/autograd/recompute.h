#pragma once
#include <utility>

#include "autograd/gradient.h"

namespace mpitron::autograd {

/// Runs `block(context, input)` without recording and adds one node, whose backward replays it on a
/// tape of its own: between the passes only the input is kept (Chen et al. 2016). Dropout masks
/// need no state: they are keyed. Without a tape it just runs the block.
template <class Block>
Var recompute(Context& context, Block block, const Var& input);

namespace detail {

template <class Block>
struct Replay {
  Block block;
  Tensor input;
  Slot input_slot;

  void operator()(Context& context, Tensor gradient) const {
    Tape tape;
    Context inner = context;
    inner.tape = &tape;
    inner.usage = nullptr;  // noted in the first pass
    const Var replayed_input = input_slot ? variable(input) : constant(input);
    const Slot output = block(inner, replayed_input).slot;
    tape.backward(inner, output, std::move(gradient));
    accumulate(context, input_slot, take_gradient(replayed_input.slot));
  }
};

}  // namespace detail

template <class Block>
Var recompute(Context& context, Block block, const Var& input) {
  if (!context.recording()) {
    return block(context, input);
  }
  Context quiet = context;
  quiet.tape = nullptr;
  const Var output = variable(block(quiet, input).value);
  context.tape->record(output.slot,
                       detail::Replay<Block>{std::move(block), input.value, input.slot});
  return output;
}

}  // namespace mpitron::autograd
