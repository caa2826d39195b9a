#include "autograd/tape.h"

#include <algorithm>

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
  }
}

void Tape::backward(Context& context, const Slot& output, Tensor seed) {
  output.gradient() = std::move(seed);
  while (!nodes_.empty()) {
    const auto destroy = [](Node* node) { node->~Node(); };
    const std::unique_ptr<Node, decltype(destroy)> node(nodes_.back(), destroy);
    nodes_.pop_back();
    Tensor gradient = std::move(node->output.gradient());
    if (gradient) {
      node->run(context, std::move(gradient));
    }
  }
  reset_arena();
}

void Tape::clear() {
  for (; !nodes_.empty(); nodes_.pop_back()) {
    nodes_.back()->~Node();
  }
  reset_arena();
  uses_.clear();
}

}  // namespace mpitron::autograd
