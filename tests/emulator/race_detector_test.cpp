// Of kernels_race_test, which is linked with ThreadSanitizer: what it calls a race between threads
// of a block, and what not.
#include "emulator/units/race_detector.h"

#include <gtest/gtest.h>

#include "emulator/units/kernel_language.h"
#include "warpgroup.cuh"

/// The first race ends the program.
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1:history_size=4:report_signal_unsafe=0";
}

namespace mpitron::emulator {
namespace race_detector_test {

using kernels::cuda::CopyBarrier;

constexpr int kThreads = 128, kRace = 66;  // the program's exit code

/// One block of a kernel, to its end.
void run_block(void (*kernel)(int*)) {
  int* memory = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), kThreads * sizeof(int));
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = kThreads;
  config.dynamicSmemBytes = 1024;
  cudaLaunchKernelEx(&config, kernel, memory);
  cudaDeviceSynchronize();
  cudaFree(memory);
}

enum class Order { nothing, block, warp, shuffle };
template <Order kOrder>
void meet() {
  if constexpr (kOrder == Order::block) {
    __syncthreads();
  } else if constexpr (kOrder == Order::warp) {
    __syncwarp();
  } else if constexpr (kOrder == Order::shuffle) {
    __shfl_xor_sync(0xffffffffu, 0, 1);
  }
}

/// Each thread reads what `distance` neighbours on has written, and with `again` writes once more
/// behind the second meeting.
template <Order kBetween, int kDistance, Order kBehind = Order::block>
__global__ void read_neighbour(int* out) {
  __shared__ int row[kThreads];
  const unsigned i = threadIdx.x;
  row[i] = 1;
  meet<kBetween>();
  out[i] = row[i ^ kDistance];
  meet<kBehind>();
  row[i] = 2;
}

__global__ void count(int* out) {
  atomicAdd(out, 1);
}
__global__ void write_the_same(int* out) {
  *out = 1;
}

template <bool kWaits>
__global__ void hand_over(int* out) {
  auto* const barrier = reinterpret_cast<CopyBarrier*>(dynamic_shared_memory());
  auto* const words = reinterpret_cast<int*>(barrier + 1);
  if (threadIdx.x == 0) {
    kernels::cuda::barrier_init(*barrier, 32);
    kernels::cuda::fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    words[threadIdx.x] = 1;
    kernels::cuda::barrier_arrive(*barrier);
  } else {
    if (kWaits) {
      kernels::cuda::barrier_wait(*barrier, 0);
    }
    out[threadIdx.x] = words[threadIdx.x % 32];
  }
}

template <int kOwn>
__global__ void meet_at_two_barriers(int* out) {
  __shared__ int row[2];
  if (threadIdx.x == 0) {
    row[0] = 1;
  } else if (threadIdx.x == 64) {
    row[1] = 1;
  }
  kernels::cuda::named_barrier_sync(1 + static_cast<int>(threadIdx.x / 64), 64);
  out[threadIdx.x] = row[(threadIdx.x / 64) ^ (1 - kOwn)];
}

TEST(RaceDetector, IsQuietWhereBarriersOrderAccesses) {
  ASSERT_TRUE(detects_races());
  run_block(read_neighbour<Order::block, 64>);
  run_block(read_neighbour<Order::block, 1>);
  run_block(read_neighbour<Order::warp, 1>);
  run_block(read_neighbour<Order::nothing, 0, Order::nothing>);
  run_block(count);
  run_block(hand_over<true>);
  run_block(meet_at_two_barriers<1>);
}

TEST(RaceDetectorDeathTest, FindsWhatNothingOrders) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto races = ::testing::ExitedWithCode(kRace);
  EXPECT_EXIT(run_block(read_neighbour<Order::nothing, 1>), races, "data race");
  EXPECT_EXIT(run_block(read_neighbour<Order::shuffle, 1>), races, "data race");
  EXPECT_EXIT(run_block(read_neighbour<Order::warp, 64>), races, "data race");
  EXPECT_EXIT(run_block(read_neighbour<Order::block, 64, Order::warp>), races, "data race");
  EXPECT_EXIT(run_block(read_neighbour<Order::block, 1, Order::shuffle>), races, "data race");
  EXPECT_EXIT(run_block(write_the_same), races, "data race");
  EXPECT_EXIT(run_block(hand_over<false>), races, "data race");
  EXPECT_EXIT(run_block(meet_at_two_barriers<0>), races, "data race");
}

}  // namespace race_detector_test
}  // namespace mpitron::emulator
