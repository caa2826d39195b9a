#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

namespace mpitron::emulator {

/// Work that a stream runs: see `enqueue`.
struct Task {
  const char* what;
  std::function<bool()> attempt;
  const void* kernel = nullptr;
};

/// The tasks of one stream, run in order by whoever waits for them. Any thread may do so; while one
/// runs a task, others find the queue busy and look elsewhere.
class Queue {
 public:
  /// Position of the task behind all others: done when `done() >= position`.
  std::uint64_t push(Task task);
  std::uint64_t end() const { return pushed_; }
  bool done(std::uint64_t position) const { return done_ >= position; }

  /// Runs tasks up to the position, as far as they can run now; whether any did.
  bool advance(std::uint64_t position);
  /// Returns the name of the next task, "" where there is none.
  const char* next() const;

 private:
  bool run_one();

  mutable std::mutex mutex_;
  std::deque<Task> tasks_;
  std::atomic<std::uint64_t> pushed_{0}, done_{0};
  std::atomic<bool> busy_{false};
};

/// Runs the queue up to the position, and what other queues hold where that cannot run yet. Ends
/// the process where nothing moves any more.
void wait_for(const std::shared_ptr<Queue>& queue, std::uint64_t position);
/// Runs everything that the queues of the process hold now.
void wait_for_everything();
/// Makes a task that waits in its queue until another queue has reached the position.
Task waiting_for(std::shared_ptr<Queue> queue, std::uint64_t position);
std::shared_ptr<Queue> make_queue();

/// Counts, for each stream of a recording, the tasks that are known to be before something.
using Seen = std::map<cudaStream_t, std::size_t>;

/// A task of a graph, with the stream that recorded it: what one stream recorded runs in its order,
/// beside what others did.
struct RecordedTask {
  Task task;
  cudaStream_t stream;
  Seen after;
};

/// The recording of a graph; `seen`: of the next task of each stream that takes part.
struct Recording {
  cudaStream_t origin;
  bool relaxed = false;
  bool broken = false;
  std::vector<RecordedTask> tasks;
  std::map<cudaStream_t, Seen> seen;
};

}  // namespace mpitron::emulator

// The toolkit's headers declare these and leave them open.
struct CUstream_st {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<mpitron::emulator::Queue> queue = mpitron::emulator::make_queue();
  std::shared_ptr<mpitron::emulator::Recording> recording;  // null: work is queued
};

struct CUevent_st {
  unsigned flags = 0;
  std::shared_ptr<mpitron::emulator::Queue> queue;  // null: never recorded
  std::uint64_t position = 0;
  std::shared_ptr<std::atomic<double>> seconds;  // when it was reached
  std::shared_ptr<mpitron::emulator::Recording> recording;
  mpitron::emulator::Seen seen;
};

struct CUgraph_st {
  std::vector<mpitron::emulator::RecordedTask> tasks;
};
struct CUgraphExec_st {
  std::vector<mpitron::emulator::RecordedTask> tasks;
};
