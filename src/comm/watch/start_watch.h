#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "utils/numbers/shape.h"

namespace mpitron::comm {

/// Watches a call that may never come back, MPI_Init for one: where it lasts longer than the limit,
/// `late` is called, once, on a thread of its own, with the sentence to tell. The watch ends with
/// the object.
class StartWatch {
 public:
  /// `what`: "MPI_Init"; `rank`: as far as it is known, for the sentence.
  /// The clock starts here, in seconds; rank and host are told as the launcher's variables say
  /// them.
  StartWatch(const std::string& what, Index rank, double limit_seconds,
             std::function<void(const std::string& sentence)> late);
  /// Ends the watch: the call has come back, or an exception leaves.
  ~StartWatch();
  /// Neither copied nor moved: its thread refers to it.
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

  /// One short-lived thread, since the watched call blocks the caller's.
 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false;
  std::thread thread_;
};

/// Writes the sentence to stderr and ends the process with exit code 3: the launcher ends the
/// others. Each rank waits longer than the one before, so that one sentence is told.
void leave_start(Index rank, const std::string& sentence);

}  // namespace mpitron::comm
