#pragma once
#include <functional>

#include <cuda_runtime_api.h>

namespace mpitron::emulator {

/// One launch: `body` is what every thread runs.
struct Grid {
  const void* kernel;  // names it in messages
  dim3 blocks, threads;
  std::size_t shared_bytes;
};

/// Runs the grid to its end on this thread of the host, block after block. The threads of a block
/// are fibers that run one after another, each up to the next place where threads meet; odd blocks
/// begin with their last thread, and the order turns round behind every barrier, so that a missing
/// barrier shows as a wrong result. Where threads do not meet as they must, `fail`.
void run_grid(const Grid& grid, const std::function<void()>& body);

/// __syncthreads: returns when all threads of the block have come.
void meet_block();

/// Returns when the 32 lanes of the warp have come with the same `together`, which then has run
/// once on what they brought.
using TogetherFunction = void (*)(void* const* lanes);
void meet_warp(void* mine, TogetherFunction together);

/// An instruction that a warp executes together: `together(Lane* const lanes[32])` sees what every
/// lane brought and leaves there what each is to get. A capture-free lambda.
template <class Lane, class Together>
void meet_warp(Lane& mine, Together) {
  meet_warp(&mine, [](void* const* lanes) {
    Lane* typed[32];
    for (int lane = 0; lane < 32; ++lane) {
      typed[lane] = static_cast<Lane*>(lanes[lane]);
    }
    Together{}(typed);
  });
}

/// The dynamic shared memory of the block, filled with 0xff before its first thread runs.
unsigned char* dynamic_shared_memory();

/// A fault of the thread that runs: `fail` with kernel, block and thread.
[[noreturn]] void fail_thread(const char* message);

}  // namespace mpitron::emulator
