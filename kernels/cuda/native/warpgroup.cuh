#pragma once
#include <cstdint>

#include <cuda.h>

// What Hopper adds for warpgroups (four warps, the first of which has a number divisible by four):
// barriers that count copied bytes, copies of boxes of tensors, named barriers, registers that
// change hands, the order of asynchronous products (wgmma.cuh). As in intrinsics.cuh, one function
// each, with one of the same name in tests/emulator/include. For sm_90a only.

namespace mpitron::kernels::cuda {

/// The address within the block's shared memory.
inline __device__ std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// A barrier in shared memory whose phase ends with its last arrival and the last byte that it was
/// told to expect. Source: PTX ISA, mbarrier.
struct alignas(8) CopyBarrier {
  std::uint64_t state;
};

/// Before everybody else may use it, the thread calls fence_barriers, and the block meets.
inline __device__ void barrier_init(CopyBarrier& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}
inline __device__ void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
inline __device__ void barrier_arrive(CopyBarrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}
/// Arrives, and adds to the bytes of copies that end the phase.
inline __device__ void barrier_arrive_expecting(CopyBarrier& barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}
/// Waits for the end of the phase of this parity; the one before the first has parity 1.
inline __device__ void barrier_wait(CopyBarrier& barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

/// Begins to copy the box at these coordinates, innermost first, to shared memory aligned to 1024
/// bytes; its bytes, zeros outside of the tensor, count for the barrier. One thread. Source: PTX
/// ISA, cp.async.bulk.tensor.
inline __device__ void copy_box(void* shared, const CUtensorMap& map, CopyBarrier& barrier,
                                const int (&at)[5]) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(shared_address(&barrier)), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
      "r"(at[4])
      : "memory");
}

/// Barrier `id`, 1 to 15, of `threads`: whole warps that wait, or that only arrive. Source: PTX
/// ISA, bar.
inline __device__ void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
inline __device__ void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// The threads of a warpgroup have at most, or else at least, so many registers each from here on.
/// Source: PTX ISA, setmaxnreg.
template <int kRegisters>
__device__ void give_up_registers() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ void take_registers() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Before the first product that uses registers which other instructions have written.
inline __device__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Makes one group of the products begun since the last group.
inline __device__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `kOpen` groups of products, the latest, are under way; before that nobody
/// may touch their registers, nor write what they read.
template <int kOpen>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kOpen) : "memory");
}

}  // namespace mpitron::kernels::cuda
