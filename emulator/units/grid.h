#pragma once
#include <cstdint>
#include <functional>

#include <cuda_runtime_api.h>

namespace mpitron::emulator {

/// A launch: `body` is what every thread runs.
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

/// __syncwarp: what the lanes have written is there for all of them.
void meet_warp_with_memory();

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

/// Meets the 128 threads of a warpgroup, as meet_warp does those of a warp.
void meet_warpgroup(void* mine, TogetherFunction together);
template <class Thread, class Together>
void meet_warpgroup(Thread& mine, Together) {
  meet_warpgroup(&mine, [](void* const* threads) {
    Thread* typed[128];
    for (int i = 0; i < 128; ++i) {
      typed[i] = static_cast<Thread*>(threads[i]);
    }
    Together{}(typed);
  });
}
/// Returns the number of the warpgroup that meets, or that has the running thread.
std::size_t warpgroup_number();
/// Returns the number of the running thread within its block.
std::size_t thread_number();

/// Returns when `ready`, which is asked again when other threads have gone on; where that never
/// comes, `fail`, with what the thread waits for.
void wait_until(const std::function<bool()>& ready, const char* what);

/// The dynamic shared memory of the block, filled with 0xff before its first thread runs. It is
/// aligned to 128 bytes, and to no more.
unsigned char* dynamic_shared_memory();
/// Convert between places in dynamic shared memory and addresses within shared memory.
std::uint32_t shared_address(const void* place);
unsigned char* at_shared_address(std::size_t address, std::size_t bytes);

/// Tells how to time what may run at once or late: at once in odd blocks, as late as it can in even
/// ones.
bool odd_block();

/// Ends the program for a fault of the running thread: `fail` with kernel, block and thread.
[[noreturn]] void fail_thread(const char* message);

}  // namespace mpitron::emulator
