// Plays a backward pass in parts: each cut closes a tape and begins another, linked by the slots of
// the values that cross it.
#include "autograd/segmented_tape.h"

#include "autograd/context.h"
#include "utils/check.h"

namespace mpitron::autograd {

void SegmentedTape::cut() {
  if (count_++ == parts_.size()) {
    parts_.push_back(std::make_unique<Tape>());
  }
}

void SegmentedTape::play_last(Context& context) {
  MPITRON_CHECK(!played(), parts_.size());
  Tape& part = *parts_[--count_];
  context.recorder.tape = context.recorder.usage = &part;
  part.backward(context, Slot::make(), {});  // the slots of its outputs have their gradients
  part.clear();
}

void SegmentedTape::restart() {
  MPITRON_CHECK(played(), count_);
  cut();
}

}  // namespace mpitron::autograd
