#pragma once
#include "autograd/context.h"
#include "comm/groups/group.h"

namespace mpitron::ops {

// Two things that travel around a group, each member passing them on to the next one while it
// computes. In step t of size(), member r works with the piece of member r - t.
//
// The messages between two neighbours keep one order: in each step first the sums of the step
// before, then the next piece. So a step starts with GradientRing::start_step, where there is one.

/// Every member's piece comes by once, this member's own first.
class PieceRing {
 public:
  PieceRing(autograd::Context& context, comm::Group& group, tensor::Tensor own);

  bool done() const { return step_ == group_.size(); }
  /// Returns the member whose piece is here.
  Index owner() const { return (group_.rank() - step_ + group_.size()) % group_.size(); }
  const tensor::Tensor& here() const { return here_; }

  /// Starts to send the piece on and to receive the next one; `here` stays valid.
  void start_step();
  /// Waits for the next piece, which is `here` then.
  void finish_step();

 private:
  autograd::Context& context_;
  comm::Group& group_;
  Index step_ = 0;
  tensor::Tensor here_, next_;
  comm::Work sent_, received_;
};

/// Sums of contributions to every member's piece; they travel with the pieces and end at home. The
/// sum for member j runs from member j's own contribution on around the ring: its order is fixed.
class GradientRing {
 public:
  GradientRing(autograd::Context& context, comm::Group& group, const Shape& shape, DType dtype);

  /// Starts to receive the sum so far of the piece that is here. Returns where this member's
  /// contribution to it is to be written.
  const tensor::Tensor& start_step();
  /// Adds the two and starts to send the sum on.
  void finish_step();
  /// After all steps: the sum for this member's own piece.
  tensor::Tensor home();

 private:
  tensor::Tensor& contribution() { return contributions_[step_ % 2]; }
  comm::Work& sent() { return sent_[step_ % 2]; }

  autograd::Context& context_;
  comm::Group& group_;
  Index step_ = 0;
  tensor::Tensor arriving_, contributions_[2];
  comm::Work received_, sent_[2];
};

}  // namespace mpitron::ops
