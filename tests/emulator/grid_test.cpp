#include <numeric>

#include <gtest/gtest.h>

#include "emulator/device/emulated_stream.h"
#include "emulator/units/kernel_language.h"

namespace mpitron::emulator {
namespace grid_test {

/// Device memory that a test fills and reads by copies.
class Numbers {
 public:
  explicit Numbers(std::size_t n) : n_(n) {
    cudaMalloc(reinterpret_cast<void**>(&device_), n * sizeof(int));
  }
  ~Numbers() { cudaFree(device_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  int* device() const { return device_; }
  std::vector<int> values() const {
    std::vector<int> result(n_);
    cudaMemcpy(result.data(), device_, n_ * sizeof(int), cudaMemcpyDeviceToHost);
    return result;
  }

 private:
  std::size_t n_;
  int* device_ = nullptr;
};

/// On the default stream, to its end.
template <class... P, class... A>
cudaError_t run_kernel(dim3 blocks, dim3 threads, void (*kernel)(P...), A... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  const cudaError_t status = cudaLaunchKernelEx(&config, kernel, arguments...);
  cudaDeviceSynchronize();
  return status;
}

__global__ void write_own_number(int* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = static_cast<int>(block * threads + thread);
}

TEST(Grid, EveryThreadOfEveryBlockRunsOnce) {
  Numbers numbers(2 * 3 * 2 * 8 * 2 * 3);
  EXPECT_EQ(run_kernel({2, 3, 2}, {8, 2, 3}, write_own_number, numbers.device()), cudaSuccess);
  std::vector<int> expected(numbers.values().size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(numbers.values(), expected);
}

__global__ void reverse(int* values) {
  __shared__ int row[256];
  row[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  values[threadIdx.x] = row[blockDim.x - 1 - threadIdx.x];
}

TEST(Grid, ABarrierMakesAllWritesVisible) {
  Numbers numbers(256);
  run_kernel(1, 256, reverse, numbers.device());
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(numbers.values()[static_cast<std::size_t>(i)], 255 - i);
  }
}

/// Thread 0 writes for all, and somebody forgot the barrier: one of the two blocks shows it.
__global__ void broadcast_without_barrier(int* values) {
  __shared__ int shared;
  if (threadIdx.x == 0) {
    shared = static_cast<int>(blockIdx.x) + 1;
  }
  values[blockIdx.x * blockDim.x + threadIdx.x] = shared;
}

TEST(Grid, AMissingBarrierGivesWrongNumbers) {
  Numbers numbers(128);
  run_kernel(2, 64, broadcast_without_barrier, numbers.device());
  const std::vector<int> values = numbers.values();
  EXPECT_NE(std::vector<int>(values.begin() + 64, values.end()), std::vector<int>(64, 2));
}

__global__ void sum_of_warps(int* sums) {
  int value = static_cast<int>(threadIdx.x);
  for (int step = 16; step > 0; step /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, step);
  }
  const int next = __shfl_down_sync(0xffffffffu, value + static_cast<int>(threadIdx.x), 1);
  const unsigned odd = __ballot_sync(0xffffffffu, threadIdx.x % 2);
  if (threadIdx.x % 32 == 3) {
    sums[threadIdx.x / 32 * 3] = value;
    sums[threadIdx.x / 32 * 3 + 1] = next;
    sums[threadIdx.x / 32 * 3 + 2] = static_cast<int>(odd >> 1);
  }
}

TEST(Grid, LanesExchangeValues) {
  Numbers sums(6);
  run_kernel(1, 64, sum_of_warps, sums.device());
  EXPECT_EQ(sums.values(), (std::vector<int>{496, 496 + 4, 0x55555555,  //
                                             1520, 1520 + 36, 0x55555555}));
}

__global__ void leave_before_barrier(int*) {
  if (threadIdx.x == 5) {
    return;
  }
  __syncthreads();
}
__global__ void leave_before_shuffle(int* values) {
  if (threadIdx.x != 7) {
    values[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  }
}

TEST(GridDeathTest, WhoeverIsMissingAtAMeetingIsNamed) {
  Numbers numbers(64);
  EXPECT_DEATH(run_kernel(1, 64, leave_before_barrier, numbers.device()),
               "leave_before_barrier, block .0, 0, 0., thread .5, 0, 0.: ended before a barrier");
  EXPECT_DEATH(run_kernel(1, 64, leave_before_shuffle, numbers.device()),
               "leave_before_shuffle, block .0, 0, 0., thread .7, 0, 0.: is missing");
}

TEST(GridDeathTest, AKernelReachesNoHostMemory) {
  int on_the_stack = 0;
  EXPECT_DEATH(run_kernel(1, 32, reverse, &on_the_stack),
               "reverse was given an address of host memory");
}

TEST(Grid, ShapesThatAGpuRefuses) {
  Numbers numbers(1);
  EXPECT_EQ(run_kernel(0, 32, reverse, numbers.device()), cudaErrorInvalidConfiguration);
  EXPECT_EQ(run_kernel(1, 2048, reverse, numbers.device()), cudaErrorInvalidConfiguration);
  EXPECT_EQ(run_kernel({1, 70000}, 32, reverse, numbers.device()), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Grid, MuchSharedMemoryMustBeAskedFor) {
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  config.dynamicSmemBytes = 64 << 10;
  int* nothing = nullptr;
  EXPECT_EQ(cudaLaunchKernelEx(&config, leave_before_barrier, nothing), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(leave_before_barrier, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 64 << 10),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchKernelEx(&config, leave_before_barrier, nothing), cudaSuccess);
  cudaDeviceSynchronize();
}

}  // namespace grid_test
}  // namespace mpitron::emulator
