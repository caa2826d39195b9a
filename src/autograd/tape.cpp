// Records nodes and plays them backwards. The arena is taken again by the next microbatch, so that
// a steady step allocates nothing for its tape.
#include "autograd/tape.h"

#include <algorithm>

#include "autograd/context.h"
#include "autograd/deferred_gradients.h"
#include "utils/check.h"

namespace mpitron::autograd {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

}  // namespace

void* Tape::allocate(std::size_t bytes) {
  bytes = (bytes + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) *
          alignof(std::max_align_t);
  MPITRON_CHECK(bytes <= kChunkBytes, bytes);
  if (chunk_ < chunks_.size() && offset_ + bytes > kChunkBytes) {
    ++chunk_;
    offset_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    chunks_.push_back(std::make_unique<std::byte[]>(kChunkBytes));
  }
  return chunks_[chunk_].get() + std::exchange(offset_, offset_ + bytes);
}

void Tape::reset_arena() {
  chunk_ = 0;
  offset_ = 0;
}

void Tape::use(Parameter& parameter) {
  if (std::find(uses_.begin(), uses_.end(), &parameter) == uses_.end()) {
    uses_.push_back(&parameter);
    first_nodes_.push_back(nodes_.size());
    unreleased_ = uses_.size();
    ++parameter.sink.live_tapes;
  }
}

void Tape::release_uses(Context& context) {
  while (unreleased_ > 0 && first_nodes_[unreleased_ - 1] >= nodes_.size()) {
    Parameter& parameter = *uses_[--unreleased_];
    const bool later =
        context.recorder.deferred != nullptr &&
        context.recorder.deferred->release_later(parameter, context.recorder.last_microbatch);
    if (!later) {
      release(context, parameter);
    }
  }
}

void Tape::backward(Context& context, const Slot& output, Tensor seed) {
  output.gradient() = std::move(seed);
  while (!nodes_.empty()) {
    const auto destroy = [](Node* node) { node->~Node(); };
    const std::unique_ptr<Node, decltype(destroy)> node(nodes_.back(), destroy);
    nodes_.pop_back();
    if (!node->output) {
      node->run(context, {});
    } else if (Tensor gradient = std::move(node->output.gradient())) {
      node->run(context, std::move(gradient));
    }
    release_uses(context);
  }
  reset_arena();
}

void Tape::drop_nodes() {
  for (; !nodes_.empty(); nodes_.pop_back()) {
    nodes_.back()->~Node();
  }
  reset_arena();
}

void Tape::clear() {
  drop_nodes();
  for (; unreleased_ > 0; --unreleased_) {
    --uses_[unreleased_ - 1]->sink.live_tapes;
  }
  uses_.clear();
  first_nodes_.clear();
}

}  // namespace mpitron::autograd
