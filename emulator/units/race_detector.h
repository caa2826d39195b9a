#pragma once

namespace mpitron::emulator {

// ThreadSanitizer as a detector of races between the threads of a block. In a program that is
// linked with it, each thread of a block is a thread of its own to it, and what orders their
// accesses are barriers alone: __syncthreads, __syncwarp and barriers in shared memory, not
// shuffles and products of warps, though the emulator runs threads one after another. In other
// programs these functions do nothing.

bool detects_races();

/// A thread as the detector sees it. They are never destroyed: blocks use them again.
using WatchedThread = void*;
WatchedThread new_watched_thread();
WatchedThread this_watched_thread();
/// Tells the detector that this thread runs from here on.
void watch(WatchedThread thread);

/// Order threads: what a thread did before it published is done for whoever observes that
/// afterwards. `place` is any address that stands for the barrier and its phase.
void publish(const void* place);
void observe(const void* place);

/// While it lives, the detector looks away from the thread that made it: it moves registers of
/// others, and their memory.
class Unwatched {
 public:
  Unwatched();
  ~Unwatched();
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
};

}  // namespace mpitron::emulator
