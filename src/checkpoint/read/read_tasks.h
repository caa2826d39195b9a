#pragma once
#include <algorithm>
#include <span>

#include "checkpoint/read/parallel_read.h"

namespace mpitron::checkpoint {

inline constexpr Index kNoExtent = -1;

/// A read: elements [begin, end) of the shard of a request.
struct ReadTask {
  const ReadRequest* request;
  Index begin, end;
  Index offset = 0;          // of the first, in the file
  Index extent = kNoExtent;  // these are all of its bytes
};

inline Index element_bytes(const ReadRequest& request) {
  return static_cast<Index>(size_of(request.data_set.dtype));
}

/// Returns the tasks cut into at most `count` runs of about as many bytes each, of which each
/// begins at `place` of itself, 0 to 1.
inline std::vector<std::span<ReadTask>> make_stretches(std::vector<ReadTask>& tasks, Index count,
                                                       double place) {
  const auto bytes_of = [](const ReadTask& task) {
    return (task.end - task.begin) * element_bytes(*task.request);
  };
  Index total = 0;
  for (const ReadTask& task : tasks) {
    total += bytes_of(task);
  }
  std::vector<std::span<ReadTask>> stretches;
  Index before = 0;
  for (std::size_t first = 0; first < tasks.size();) {
    const Index limit = (static_cast<Index>(stretches.size()) + 1) * total / count;
    std::size_t last = first;
    do {
      before += bytes_of(tasks[last++]);
    } while (last < tasks.size() && before < limit);
    const std::span<ReadTask> stretch(tasks.data() + first, last - first);
    const double start = place * static_cast<double>(stretch.size());
    std::ranges::rotate(stretch, stretch.begin() + static_cast<std::ptrdiff_t>(start));
    stretches.push_back(stretch);
    first = last;
  }
  return stretches;
}

}  // namespace mpitron::checkpoint
