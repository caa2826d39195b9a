#pragma once
#include <utility>

#include "autograd/gradient.h"

namespace mpitron::autograd {

/// Runs `block(context, input)` without recording and adds one node, whose backward replays it on a
/// tape of its own: between the passes only the input is kept (Chen et al. 2016). Dropout masks
/// need no state: they are keyed. Without a tape it just runs the block.
///
/// `keep(context, input)` gives what is kept of the input: a function of the context that returns
/// it (ranks that all have it may each keep a piece).
struct KeepInput {
  auto operator()(Context&, const Tensor& input) const {
    return [input](Context&) { return input; };
  }
};
template <class Block, class Keep = KeepInput>
Var recompute(Context& context, Block block, const Var& input, const Keep& keep = {});

namespace detail {

template <class Block, class Kept>
struct Replay {
  Block block;
  Kept kept;
  Slot input_slot;
  // Of the first pass: a model may have passes with random numbers of their own.
  std::uint64_t seed;
  SamplePosition position;

  void operator()(Context& context, Tensor gradient) const {
    const Tensor input = kept(context);
    Tape tape;
    Context inner = context;
    inner.recorder.tape = &tape;
    inner.recorder.usage = nullptr;  // noted in the first pass
    inner.seed = seed;
    inner.position = position;
    const Var replayed_input = input_slot ? variable(input) : constant(input);
    const Slot output = block(inner, replayed_input).slot;
    tape.backward(inner, output, std::move(gradient));
    accumulate(context, input_slot, take_gradient(replayed_input.slot));
  }
};

}  // namespace detail

template <class Block, class Keep>
Var recompute(Context& context, Block block, const Var& input, const Keep& keep) {
  if (!context.recording()) {
    return block(context, input);
  }
  Context quiet = context;
  quiet.recorder.tape = nullptr;
  const Var output = variable(block(quiet, input).value);
  auto kept = keep(context, input.value);
  context.record(output.slot,
                 detail::Replay<Block, decltype(kept)>{std::move(block), std::move(kept),
                                                       input.slot, context.seed, context.position});
  return output;
}

}  // namespace mpitron::autograd
