#pragma once
#include <atomic>

#include "utils/numbers/shape.h"

namespace mpitron::kernels::host::attention {

/// Gives a thread one after another of the tasks that all threads share, and tells which one comes
/// while another still runs, so that its rows can be asked for.
class TaskQueue {
 public:
  TaskQueue(std::atomic<Index>& next, Index tasks) : next_(next), tasks_(tasks) {}

  /// Returns the next task, or kNone.
  Index take() {
    const Index task = coming();
    coming_ = kUnknown;
    return task;
  }
  /// Returns the task that `take` will give. No other thread gets it from now on, so this is asked
  /// late in a task: threads that end at different times then still share what is left.
  Index coming() {
    if (coming_ == kUnknown) {
      const Index task = next_++;
      coming_ = task < tasks_ ? task : kNone;
    }
    return coming_;
  }

  static constexpr Index kNone = -1;

 private:
  static constexpr Index kUnknown = -2;

  std::atomic<Index>& next_;
  Index tasks_;
  Index coming_ = kUnknown;
};

}  // namespace mpitron::kernels::host::attention
