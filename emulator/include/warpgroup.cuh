#pragma once
// Implements the functions of kernels/cuda/native/warpgroup.cuh for the emulator.
#include <cuda.h>

#include "emulator/units/copy_barriers.h"
#include "emulator/units/grid.h"
#include "emulator/units/warpgroup_products.h"

namespace mpitron::kernels::cuda {

inline std::uint32_t shared_address(const void* shared) {
  return emulator::shared_address(shared);
}

struct alignas(8) CopyBarrier {
  std::uint64_t state;
};

inline void barrier_init(CopyBarrier& barrier, int arrivals) {
  emulator::init_barrier(&barrier, arrivals);
}
inline void fence_barriers() {
  emulator::fence_barriers_of_thread();
}
inline void barrier_arrive(CopyBarrier& barrier) {
  emulator::arrive_at_barrier(&barrier, 0);
}
inline void barrier_arrive_expecting(CopyBarrier& barrier, int bytes) {
  emulator::arrive_at_barrier(&barrier, bytes);
}
inline void barrier_wait(CopyBarrier& barrier, int parity) {
  emulator::wait_for_barrier(&barrier, parity);
}
inline void copy_box(void* shared, const CUtensorMap& map, CopyBarrier& barrier,
                     const int (&at)[5]) {
  emulator::copy_box_later(shared, map, &barrier, at);
}

inline void named_barrier_sync(int id, int threads) {
  emulator::meet_at_named_barrier(id, threads);
}
inline void named_barrier_arrive(int id, int threads) {
  emulator::arrive_at_named_barrier(id, threads);
}

/// Checks that a warpgroup asks together; registers have no limit here.
template <int kRegisters>
void give_up_registers() {
  int nothing = kRegisters;
  emulator::meet_warpgroup(nothing, [](int* const*) {});
}
template <int kRegisters>
void take_registers() {
  give_up_registers<kRegisters>();
}

inline void wgmma_fence() {
  emulator::fence_products();
}
inline void wgmma_commit() {
  emulator::commit_products();
}
template <int kOpen>
void wgmma_wait() {
  emulator::wait_for_products(kOpen);
}

}  // namespace mpitron::kernels::cuda
