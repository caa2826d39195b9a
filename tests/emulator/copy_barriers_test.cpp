#include "emulator/units/copy_barriers.h"

#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "emulator/units/kernel_language.h"
#include "kernels/cuda/linear/tensor_map.h"
#include "warpgroup.cuh"

namespace mpitron::emulator {
namespace copy_barriers_test {

using namespace kernels::cuda;

constexpr int kBoxRows = 16, kBoxElements = kBoxRows * 64;

struct Arguments {
  HeadMap map;
  std::uint16_t* out;  // the box as it lies in shared memory
  int head, sample, row, column;
};

struct Shared {
  alignas(1024) std::uint16_t box[kBoxElements];
  CopyBarrier barrier;
};
Shared& shared() {
  unsigned char* const bytes = dynamic_shared_memory();
  return *reinterpret_cast<Shared*>(bytes + (1024 - shared_address(bytes) % 1024) % 1024);
}

__global__ void copy_one_box(Arguments a) {
  Shared& s = shared();
  if (threadIdx.x == 0) {
    barrier_init(s.barrier, 1);
    fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    barrier_arrive_expecting(s.barrier, sizeof s.box);
    copy_box(s.box, a.map.map, s.barrier,
             {a.column, a.head % a.map.inner, a.head / a.map.inner, a.sample, a.row});
  }
  barrier_wait(s.barrier, 0);
  for (int i = static_cast<int>(threadIdx.x); i < kBoxElements; i += 64) {
    a.out[blockIdx.x * kBoxElements + i] = s.box[i];
  }
}

/// A tensor [5, 2, 4, 40] of numbers that say where they stand, and the boxes of two blocks.
class Boxes : public ::testing::Test {
 protected:
  static constexpr Index kS = 5, kB = 2, kN = 4, kD = 40, kCount = kS * kB * kN * kD;

  Boxes() {
    cudaMalloc(&tensor_, kCount * 2);
    cudaMalloc(&out_, 2 * kBoxElements * 2);
    std::vector<std::uint16_t> values(kCount);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<std::uint16_t>(i + 1);
    }
    cudaMemcpy(tensor_, values.data(), values.size() * 2, cudaMemcpyHostToDevice);
  }
  ~Boxes() override {
    cudaFree(tensor_);
    cudaFree(out_);
  }
  device::ConstTensorView view() const {
    return {tensor_, DType::bf16, {kS, kB, kN, kD}, {kB * kN * kD, kN * kD, kD, 1}};
  }
  std::vector<std::uint16_t> copy(const HeadMap& map, int head, int sample, int row) {
    const Arguments arguments{map, static_cast<std::uint16_t*>(out_), head, sample, row, 0};
    cudaLaunchConfig_t config{};
    config.gridDim = 2;  // one block copies at once, one late
    config.blockDim = 64;
    config.dynamicSmemBytes = sizeof(Shared) + 1024;
    EXPECT_EQ(cudaLaunchKernelEx(&config, copy_one_box, arguments), cudaSuccess);
    std::vector<std::uint16_t> result(2 * kBoxElements);
    cudaMemcpy(result.data(), out_, result.size() * 2, cudaMemcpyDeviceToHost);
    return result;
  }

  void *tensor_ = nullptr, *out_ = nullptr;
};

TEST_F(Boxes, RowsOfAHeadWithExchangedChunksAndZerosOutside) {
  HeadMap map;
  ASSERT_TRUE(make_head_map(map, view(), kBoxRows));
  const auto got = copy(map, 3, 1, 2);
  for (int i = 0; i < 2 * kBoxElements; ++i) {
    const int at = i % kBoxElements, row = at / 64, chunk = (at % 64 / 8) ^ (row % 8);
    const Index column = 8 * chunk + at % 8, s = row + 2;
    const bool inside = s < kS && column < kD;
    const Index expected = inside ? ((s * kB + 1) * kN + 3) * kD + column + 1 : 0;
    ASSERT_EQ(got[static_cast<std::size_t>(i)], expected) << row << " " << column;
  }
}

TEST_F(Boxes, HeadsInGroups) {
  HeadMap map;
  const device::ConstTensorView grouped{
      tensor_, DType::bf16, {kS, kB, 2, 2, kD}, {kB * kN * kD, kN * kD, 2 * kD, kD, 1}};
  ASSERT_TRUE(make_head_map(map, grouped, kBoxRows));
  EXPECT_EQ(map.inner, 2);
  EXPECT_EQ(copy(map, 3, 1, 2)[0], ((2 * kB + 1) * kN + 3) * kD + 1);
}

TEST_F(Boxes, WhatTheCopyEngineCannotRead) {
  HeadMap map;
  auto odd = view();
  odd.strides[2] = kD + 1;
  EXPECT_FALSE(make_head_map(map, odd, kBoxRows));
  auto moved = view();
  moved.data = static_cast<char*>(tensor_) + 2;
  EXPECT_FALSE(make_head_map(map, moved, kBoxRows));
  const device::ConstTensorView empty{
      tensor_, DType::bf16, {0, kB, kN, kD}, {kB * kN * kD, kN * kD, kD, 1}};
  EXPECT_FALSE(make_head_map(map, empty, kBoxRows));
}

/// Mistakes, one for each number.
__global__ void mistaken(int mistake) {
  CopyBarrier& barrier = shared().barrier;
  if (threadIdx.x == 0) {
    barrier_init(barrier, 2);
    if (mistake != 0) {
      fence_barriers();
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_arrive(barrier);
  }
  if (mistake == 1) {
    barrier_arrive_expecting(barrier, 16);
  }
  if (mistake == 2) {
    barrier_wait(barrier, 0);
  }
  if (mistake == 3) {
    named_barrier_sync(1, 96);
  }
}
void run_mistaken(int mistake) {
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 64;
  config.dynamicSmemBytes = sizeof(Shared) + 1024;
  cudaLaunchKernelEx(&config, mistaken, mistake);
  cudaDeviceSynchronize();
}

TEST(BarriersDeathTest, MistakesAreNamed) {
  EXPECT_DEATH(run_mistaken(0), "nobody has initialised and fenced");
  EXPECT_DEATH(run_mistaken(1), "whose phase has all its arrivals");
  EXPECT_DEATH(run_mistaken(2), "waits for ever for a barrier in shared memory");
  EXPECT_DEATH(run_mistaken(3), "waits for ever for a named barrier");
}

/// The second warp waits for what the first has written, which only arrives.
__global__ void pass_on(int* out) {
  int* const shared = reinterpret_cast<int*>(dynamic_shared_memory());
  if (threadIdx.x < 32) {
    shared[threadIdx.x] = static_cast<int>(threadIdx.x);
    named_barrier_arrive(4, 64);
  } else {
    named_barrier_sync(4, 64);
    out[blockIdx.x * 32 + threadIdx.x - 32] = shared[63 - threadIdx.x];
  }
}

TEST(Barriers, NamedOnesOrderWarps) {
  int* device = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&device), 64 * sizeof(int));
  cudaLaunchConfig_t config{};
  config.gridDim = 2;
  config.blockDim = 64;
  config.dynamicSmemBytes = 128;
  cudaLaunchKernelEx(&config, pass_on, device);
  std::vector<int> got(64);
  cudaMemcpy(got.data(), device, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(got[static_cast<std::size_t>(i)], 31 - i % 32);
  }
}

}  // namespace copy_barriers_test
}  // namespace mpitron::emulator
