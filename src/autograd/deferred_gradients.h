#pragma once
#include <deque>
#include <functional>

#include "autograd/parameter.h"

namespace mpitron::autograd {

struct Context;

/// Additions to gradients of weights that backward passes leave for later, in the order in which
/// the passes would have made them: a gradient that gets all of them from here has the same bits.
/// The tensors that an addition reads live until it is made.
class DeferredGradients {
 public:
  using Addition = std::function<void(Context&)>;

  /// `only`: the one parameter whose additions wait here; null: those of all linear layers.
  explicit DeferredGradients(const Parameter* only = nullptr) : only_(only) {}

  bool takes(const Parameter& parameter) const { return only_ == nullptr || only_ == &parameter; }
  void add(Parameter& parameter, Addition addition);
  /// The pass has played everything that uses the parameter. True if additions wait here; then the
  /// parameter is released behind the last of them, as of that pass's microbatch.
  bool release_later(const Parameter& parameter, bool last_microbatch);

  /// Makes the additions, first one first, until `keep` are left. What the context says of its
  /// microbatch does not matter.
  void play(Context context, std::size_t keep = 0);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Parameter* parameter = nullptr;
    Addition addition;
    bool releases = false;         // the last addition of its pass
    bool last_microbatch = false;  // of the step; where it releases
  };

  const Parameter* only_;
  std::deque<Entry> entries_;
};

}  // namespace mpitron::autograd
