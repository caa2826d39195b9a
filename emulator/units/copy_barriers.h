#pragma once
#include <cstdint>

#include <cuda.h>

namespace mpitron::emulator {

/// The block's barriers that count arrivals and copied bytes (PTX ISA, mbarrier), each where its
/// object lies in shared memory, and its named barriers (PTX ISA, bar). `fail` where one is used
/// before it is initialised and fenced, or gets more arrivals than it expects in a phase.
void init_barrier(const void* barrier, int arrivals);
void fence_barriers_of_thread();
void arrive_at_barrier(const void* barrier, std::int64_t bytes_to_expect);
void wait_for_barrier(const void* barrier, int parity);

/// A copy of a box to shared memory (PTX ISA, cp.async.bulk.tensor). In odd blocks it takes place
/// at once, in even ones only when no thread can go on without it.
void copy_box_later(void* shared, const CUtensorMap& map, const void* barrier, const int (&at)[5]);

/// The calling thread arrives, and waits for all `threads`.
void meet_at_named_barrier(int id, int threads);
void arrive_at_named_barrier(int id, int threads);

/// For the block as a whole.
void begin_block_of_barriers();
/// Executes the copy that has been put off the longest; false where there is none.
bool copy_next_box();

}  // namespace mpitron::emulator
