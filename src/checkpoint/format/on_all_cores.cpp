#include "checkpoint/format/on_all_cores.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>

// Threads over the cores that this process may use, for work that a rank does alone: hashing,
// reading, comparing.

namespace mpitron::checkpoint {

Index usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Launchers bind ranks to cores.
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

void on_all_cores(Index count, const std::function<void(Index)>& body) {
  std::atomic<Index> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (Index i = next++; i < count; i = next++) {
        body(i);
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      failure = failure ? failure : std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (Index i = 1; i < std::min(usable_cores(), count); ++i) {
      others.emplace_back(work);
    }
    work();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace mpitron::checkpoint
