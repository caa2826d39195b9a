#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "autograd/parameter.h"
#include "autograd/var.h"

namespace mpitron::autograd {

struct Context;

/// The backward pass of one chunk and one microbatch: nodes in order of creation, played once in
/// reverse on one thread. A node holds slots and saved tensors and dies as it runs, which frees
/// them. Nodes lie in an arena that is kept for the next microbatch.
class Tape {
 public:
  Tape() = default;
  ~Tape() { drop_nodes(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// `backward(context, gradient of output)` runs if the output got a gradient; a node without one
  /// is dropped unrun (an expert without tokens). Its parameters are released with the others of
  /// this tape all the same.
  template <class Backward>
  void record(const Slot& output, Backward backward);

  /// `action(context)` runs in its turn in any case.
  template <class Action>
  void record_always(Action action);

  /// Seeds `output` and plays everything back. Tells the context's keeper of every
  /// parameter when the first node that used it has been played (in creation order, so the last one
  /// here): what a recomputed block uses is a use of that block's node. Where the context defers
  /// additions to a gradient, the keeper is told behind the last of them.
  void backward(Context& context, const Slot& output, Tensor seed);

  void use(Parameter& parameter);
  const ParameterUses& uses() const { return uses_; }
  std::size_t size() const { return nodes_.size(); }
  /// Drops what was not played and forgets the uses.
  void clear();

 private:
  struct Node {
    explicit Node(const Slot& output_) : output(output_) {}
    virtual ~Node() = default;
    virtual void run(Context& context, Tensor gradient) = 0;
    Slot output;
  };
  template <class Backward>
  struct NodeOf final : Node {
    NodeOf(const Slot& output_, Backward&& backward_)
        : Node(output_), backward(std::move(backward_)) {}
    void run(Context& context, Tensor gradient) override { backward(context, std::move(gradient)); }
    Backward backward;
  };

  void* allocate(std::size_t bytes);
  void reset_arena();
  void drop_nodes();
  void release_uses(Context& context);

  std::vector<Node*> nodes_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t chunk_ = 0;   // the one being filled
  std::size_t offset_ = 0;  // bytes used of it
  ParameterUses uses_;
  std::vector<std::size_t> first_nodes_;  // of each use, ascending: nodes before it do not use it
  std::size_t unreleased_ = 0;            // the first so many of uses_
};

template <class Action>
void Tape::record_always(Action action) {
  record({}, [action = std::move(action)](Context& context, const Tensor&) { action(context); });
}

template <class Backward>
void Tape::record(const Slot& output, Backward backward) {
  using Made = NodeOf<Backward>;
  static_assert(alignof(Made) <= alignof(std::max_align_t));
  nodes_.push_back(new (allocate(sizeof(Made))) Made(output, std::move(backward)));
}

}  // namespace mpitron::autograd
