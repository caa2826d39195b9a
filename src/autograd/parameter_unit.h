#pragma once
#include <utility>

#include "autograd/context.h"

namespace mpitron::autograd {

/// block(context, x) with the parameters of `unit` in memory, in this pass and in the backward
/// pass; where nobody keeps parameters, just the block.
template <class Block>
Var in_unit(Context& context, Index unit, Block&& block, const Var& x) {
  if (context.recorder.keeper == nullptr) {
    return block(context, x);
  }
  context.recorder.keeper->enter(unit, Pass::forward);
  if (context.recording()) {
    context.record_always(
        [unit](Context& inner) { inner.recorder.keeper->leave(unit, Pass::backward); });
  }
  Var y = block(context, x);
  if (context.recording()) {
    context.record_always(
        [unit](Context& inner) { inner.recorder.keeper->enter(unit, Pass::backward); });
  }
  context.recorder.keeper->leave(unit, Pass::forward);
  return y;
}

}  // namespace mpitron::autograd
