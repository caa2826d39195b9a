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

/// Arrives at a named barrier, and waits for all `threads`.
void meet_at_named_barrier(int id, int threads);
void arrive_at_named_barrier(int id, int threads);

/// Begins a block: no barrier is initialised, no copy is open.
void begin_block_of_barriers();
/// Executes the copy that has been put off the longest; false where there is none.
bool copy_next_box();

/// Contents of a CUtensorMap as the emulator fills it: a tensor of 16-bit elements, whose boxes are
/// copied to rows of 128 bytes with exchanged chunks (CU_TENSOR_MAP_SWIZZLE_128B). Dimensions go
/// from the innermost, whose stride is one element.
struct TensorMap {
  static constexpr int kRank = 5;
  static constexpr std::uint64_t kMark = 0x70616d20726f736e;

  std::uint64_t mark, data;
  std::uint64_t size[kRank], stride[kRank - 1];  // strides in bytes
  std::uint32_t box[kRank];
};
static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap));

}  // namespace mpitron::emulator
