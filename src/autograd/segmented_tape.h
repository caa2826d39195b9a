#pragma once
#include <memory>
#include <vector>

#include "autograd/tape.h"

namespace mpitron::autograd {

/// The tape of one chunk and one microbatch in parts, one for each stretch of the pass between two
/// cuts. The backward pass plays one part after the other, the last one first, and something else
/// may run in between. Parts are kept for the next microbatch.
class SegmentedTape {
 public:
  SegmentedTape() { cut(); }

  /// Returns the tape on which the forward pass records, until it is cut.
  Tape& current() { return *parts_[count_ - 1]; }
  /// Begins the next part.
  void cut();
  /// Plays the last part that was not played yet, with the gradients that its slots hold.
  /// `context.recorder.tape` is that part then.
  void play_last(Context& context);
  bool played() const { return count_ == 0; }
  /// Begins anew; all parts were played.
  void restart();

 private:
  std::vector<std::unique_ptr<Tape>> parts_;
  std::size_t count_ = 0;  // recorded and not played
};

}  // namespace mpitron::autograd
