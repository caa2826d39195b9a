#pragma once
#include <vector>

#include "inference/scheduling/sequence.h"
#include "utils/check.h"

namespace mpitron::inference {

/// A sequence's share of a step under way; null once it was removed.
struct StepPart {
  Sequence* sequence = nullptr;
  Index first_position = 0;
  Index tokens = 0;       // drafts included
  Index logits_from = 0;  // of them
  Index drafts = 0;       // those of the engine included
  Index own_drafts = 0;   // of the engine, which the sequence does not know yet

  Index rows() const { return tokens - logits_from; }
};

/// The parts of steps that were planned and have not ended, in the order in which they began, and
/// those of the step under construction.
class StepsUnderWay {
 public:
  /// `depth`: steps that may be under way at the same time.
  explicit StepsUnderWay(Index depth) : depth_(depth), steps_(static_cast<std::size_t>(depth)) {}

  Index depth() const { return depth_; }
  Index count() const { return begun_ - ended_; }
  /// Returns the empty parts of a new step, which begin() puts under way.
  std::vector<StepPart>& start() {
    MPITRON_CHECK(count() < depth_, depth_);
    next().clear();
    return next();
  }
  /// Returns the parts of the step under construction.
  std::vector<StepPart>& next() { return step(begun_); }
  void begin() { ++begun_; }
  std::vector<StepPart>& oldest() {
    MPITRON_CHECK(count() > 0, begun_);
    return step(ended_);
  }
  void end_oldest() { ++ended_; }
  /// Leaves a sequence out of all of them. Its parts stay where they are: results still come in
  /// their order.
  void forget(const Sequence& sequence) {
    for (Index number = ended_; number < begun_; ++number) {
      for (StepPart& part : step(number)) {
        part.sequence = part.sequence == &sequence ? nullptr : part.sequence;
      }
    }
  }

 private:
  /// A ring: a list keeps its memory when its step has ended, so that a steady run allocates none.
  std::vector<StepPart>& step(Index number) {
    return steps_[static_cast<std::size_t>(number % depth_)];
  }

  Index depth_;
  std::vector<std::vector<StepPart>> steps_;
  Index begun_ = 0, ended_ = 0;
};

}  // namespace mpitron::inference
