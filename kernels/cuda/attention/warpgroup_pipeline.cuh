#pragma once
#include "kernels/cuda/attention/attention_problem.cuh"
#include "kernels/cuda/linear/tensor_map.h"
#include "kernels/cuda/linear/warpgroup_product.cuh"

// How a block divides its work among warpgroups: the first has tiles copied to shared memory by the
// copy engine, the others multiply them.

namespace mpitron::kernels::cuda {

inline constexpr int kWarpgroup = 128;  // threads

/// Which of the block's warpgroups the thread is in: asked of its warp, so that what follows from
/// it takes the registers that a warp has once.
inline __device__ int warpgroup_index() {
  return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
}

/// A ring of tiles in shared memory: tile `step` lies in stage step % kStages. One thread has them
/// filled; warps use them, and free each for the tile kStages later.
template <unsigned kStages>
struct TileRing {
  CopyBarrier filled[kStages], freed[kStages];

  /// `fillers` arrivals fill a stage, and the bytes that they expect; `warps` free it.
  __device__ void init(int fillers, int warps) {
    for (unsigned stage = 0; stage < kStages; ++stage) {
      barrier_init(filled[stage], fillers);
      barrier_init(freed[stage], warps);
    }
  }
  __device__ void wait_until_filled(unsigned step) {
    barrier_wait(filled[step % kStages], static_cast<int>(step / kStages % 2));
  }
  __device__ void wait_until_free(unsigned step) {
    barrier_wait(freed[step % kStages], static_cast<int>((step / kStages + 1) % 2));
  }
  /// By all lanes of a warp, when its products of the tile have ended.
  __device__ void release(unsigned step) {
    __syncwarp();  // what any of them has read of the stage comes before the one arrival
    if (threadIdx.x % 32 == 0) {
      barrier_arrive(freed[step % kStages]);
    }
  }
};

/// Begins to copy the rows from `row` on of a head to the tile; its bytes count for the barrier.
template <class T, int kRows, int kColumns>
__device__ void copy_tile(const PanelTile<T, kRows, kColumns>& tile, const HeadMap& map, int head,
                          int sample, int row, CopyBarrier& barrier) {
  using Tile = PanelTile<T, kRows, kColumns>;
  const int member = head % map.inner, group = head / map.inner;
#pragma unroll 1
  for (int panel = 0; panel < Tile::kPanels; ++panel) {
    copy_box(tile.panel(panel), map.map, barrier,
             {Tile::kPanelColumns * panel, member, group, sample, row});
  }
}

/// Dynamic shared memory is aligned to 128 bytes, tiles are to 1024: so many bytes are asked for
/// besides the tiles.
inline constexpr int kTileAlignment = 1024, kSharedSlack = kTileAlignment;

template <class T>
__device__ T* aligned_dynamic_shared() {
  unsigned char* const bytes = dynamic_shared<unsigned char>();
  const std::uint32_t behind = shared_address(bytes) % kTileAlignment;
  return reinterpret_cast<T*>(bytes + (kTileAlignment - behind) % kTileAlignment);
}

}  // namespace mpitron::kernels::cuda
