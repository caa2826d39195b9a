// Sends pieces around a ring in step with computing. Each step begins the next transfer before it
// computes on the piece that is there. No member waits for a send before it has started to receive,
// so the ring cannot wait for itself.
#include "ops/parallel/ring_exchange.h"

#include "kernels/elementwise/elementwise.h"

namespace mpitron::ops {
namespace {

Index next_of(const comm::Group& group) {
  return (group.rank() + 1) % group.size();
}
Index previous_of(const comm::Group& group) {
  return (group.rank() + group.size() - 1) % group.size();
}

}  // namespace

PieceRing::PieceRing(autograd::Context& context, comm::Group& group, tensor::Tensor own)
    : context_(context), group_(group), here_(std::move(own)) {}

void PieceRing::start_step() {
  if (step_ + 1 == group_.size()) {
    return;
  }
  if (!next_) {
    next_ = context_.empty(here_.shape(), here_.dtype());
  }
  sent_ = group_.send(here_, next_of(group_));
  received_ = group_.receive(next_, previous_of(group_));
}

void PieceRing::finish_step() {
  sent_.wait();
  received_.wait();
  std::swap(here_, next_);
  ++step_;
}

GradientRing::GradientRing(autograd::Context& context, comm::Group& group, const Shape& shape,
                           DType dtype)
    : context_(context), group_(group) {
  const int buffers = group.size() == 1 ? 1 : 2;
  for (int i = 0; i < buffers; ++i) {
    contributions_[i] = context.empty(shape, dtype);
  }
  if (group.size() > 1) {
    arriving_ = context.empty(shape, dtype);
  }
}

const tensor::Tensor& GradientRing::start_step() {
  if (step_ > 0) {
    received_ = group_.receive(arriving_, previous_of(group_));
  }
  sent().wait();
  return contribution();
}

void GradientRing::finish_step() {
  if (step_ > 0) {
    received_.wait();
    context_.launch(kernels::Add{
        .a = arriving_.view(), .b = contribution().view(), .y = contribution().view()});
  }
  if (group_.size() > 1) {
    sent() = group_.send(contribution(), next_of(group_));
  }
  ++step_;
}

tensor::Tensor GradientRing::home() {
  if (group_.size() == 1) {
    return contributions_[0];
  }
  group_.receive(arriving_, previous_of(group_)).wait();
  sent_[0].wait();
  sent_[1].wait();
  return arriving_;
}

}  // namespace mpitron::ops
