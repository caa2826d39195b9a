#pragma once
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "autograd/parameter.h"

namespace mpitron::autograd {

struct Context;

/// Additions to gradients of weights that backward passes leave for later, in the order in which
/// the passes would have made them: a gradient that gets all of them from here has the same bits.
/// The tensors that an addition reads live until it is made.
///
/// A forward pass leaves nothing; what it is given may use the time in which it waits for others.
class DeferredGradients {
 public:
  using Addition = std::function<void(Context&)>;

  /// `only`: the one parameter whose additions wait here; null: those of all linear layers.
  explicit DeferredGradients(const Parameter* only = nullptr) : only_(only) {}
  virtual ~DeferredGradients() = default;
  DeferredGradients(const DeferredGradients&) = delete;
  DeferredGradients& operator=(const DeferredGradients&) = delete;

  bool takes(const Parameter& parameter) const { return only_ == nullptr || only_ == &parameter; }
  /// One addition to the gradients of several parameters.
  void add(std::span<Parameter* const> parameters, Addition addition);
  void add(Parameter& parameter, Addition addition) {
    Parameter* const one = &parameter;
    add(std::span(&one, 1), std::move(addition));
  }
  /// The pass has played everything that uses the parameter. True if additions wait here; then the
  /// parameter is released behind the last of them, as of that pass's microbatch.
  bool release_later(const Parameter& parameter, bool last_microbatch);

  /// Makes the additions, first one first, until `keep` are left. What the context says of its
  /// microbatch does not matter.
  void play(Context context, std::size_t keep = 0);
  std::size_t size() const { return entries_.size(); }

  /// The pass that `context` belongs to has sent rows to other ranks and will wait for theirs:
  /// what can be computed in that time is computed here.
  virtual void overlapped_work(Context&) {}

 private:
  struct Entry {
    std::vector<Parameter*> parameters;
    Addition addition;
    std::vector<Parameter*> released = {};  // those of which it is the last addition of its pass
    bool last_microbatch = false;           // of the step; where it releases
  };

  const Parameter* only_;
  std::deque<Entry> entries_;
};

}  // namespace mpitron::autograd
