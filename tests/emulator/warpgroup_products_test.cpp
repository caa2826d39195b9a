#include "emulator/units/warpgroup_products.h"

#include <vector>

#include <gtest/gtest.h>

#include "emulator/units/kernel_language.h"
#include "warpgroup.cuh"
#include "wgmma.cuh"

namespace mpitron::emulator {
namespace warpgroup_products_test {

using namespace kernels::cuda;

constexpr int kRows = 64, kColumns = 128, kDepth = 16, kAtom = 1024;
constexpr std::size_t kSharedBytes = 64 << 10;

/// Small whole numbers, whose products are exact.
float a_at(int i, int k) {
  return static_cast<float>((5 * i + 3 * k) % 7 - 3);
}
float b_at(int j, int k) {
  return static_cast<float>((2 * j + 11 * k) % 9 - 4);
}
float product_at(int i, int j) {
  float sum = 0;
  for (int k = 0; k < kDepth; ++k) {
    sum += a_at(i, k) * b_at(j, k);
  }
  return sum;
}

std::uint64_t descriptor(std::uint32_t address, int leading, int stride) {
  return std::uint64_t{1} << 62 | static_cast<std::uint64_t>(stride / 16) << 32 |
         static_cast<std::uint64_t>(leading / 16) << 16 | address / 16;
}

/// The first multiple of 1024 bytes.
unsigned char* tiles() {
  unsigned char* const bytes = dynamic_shared_memory();
  return bytes + (kAtom - shared_address(bytes) % kAtom) % kAtom;
}
/// Element `column` of a row of 128 bytes, in the first of several atoms.
void put(unsigned char* tile, int row, int column, float value) {
  const int chunk = (column / 8) ^ (row % 8);
  const __half element = __float2half(value);
  std::memcpy(tile + row * 128 + chunk * 16 + column % 8 * 2, &element, 2);
}

/// What lane l of a warp holds of 64 x 8 N.
template <int N>
void store(const float (&d)[N][4], float* to) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int n = 0; n < N; ++n) {
    for (int e = 0; e < 4; ++e) {
      const int row = 16 * warp + 8 * (e / 2) + lane / 4, column = 8 * n + lane % 4 * 2 + e % 2;
      to[row * 8 * N + column] = d[n][e];
    }
  }
}

/// a and b with the depth in rows; the second eight rows of b follow `stride` bytes behind.
__global__ void depth_in_rows(float* out, int column) {
  unsigned char *const a = tiles(), *const b = a + kRows * 128;
  for (int k = 0; k < kDepth && threadIdx.x == 0; ++k) {
    for (int i = 0; i < kRows; ++i) {
      put(a, i, column + k, a_at(i, k));
    }
    for (int j = 0; j < kColumns; ++j) {
      put(b, j, column + k, b_at(j, k));
    }
  }
  __syncthreads();
  float d[16][4];
  wgmma_fence();
  wgmma(d, descriptor(shared_address(a) + column * 2, 0, kAtom),
        descriptor(shared_address(b) + column * 2, 0, kAtom), false, __half());
  wgmma_commit();
  wgmma_wait<0>();
  store(d, out);
}

/// a in registers, b with its columns in rows of 64: two panels.
__global__ void columns_in_rows(float* out, int times) {
  unsigned char* const b = tiles();
  constexpr int kPanel = 32 * 128;  // of more rows than are used
  for (int k = 0; k < kDepth && threadIdx.x == 0; ++k) {
    for (int j = 0; j < kColumns; ++j) {
      put(b + j / 64 * kPanel, k, j % 64, b_at(j, k));
    }
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t a[4];
  for (int e = 0; e < 4; ++e) {
    const int row = 16 * warp + lane / 4 + e % 2 * 8, column = lane % 4 * 2 + e / 2 * 8;
    const __half2 pair = __floats2half2_rn(a_at(row, column), a_at(row, column + 1));
    std::memcpy(&a[e], &pair, 4);
  }
  float d[16][4] = {};
  wgmma_fence();
  for (int i = 0; i < times; ++i) {
    wgmma_transposed(d, a, descriptor(shared_address(b), kPanel, kAtom), true, __half());
  }
  wgmma_commit();
  wgmma_wait<0>();
  store(d, out);
}

/// Mistakes, one for each number.
enum Mistake { kNone, kNoFence, kReadBeforeWait, kWriteBeforeWait, kNoWait, kOperandChanged };
__global__ void mistaken(float* out, int mistake) {
  std::memset(tiles(), 0, 16 << 10);
  __syncthreads();
  float d[8][4] = {};
  std::uint32_t a[4] = {};
  if (mistake != kNoFence) {
    wgmma_fence();
  }
  wgmma_transposed(d, a, descriptor(shared_address(tiles()), 0, kAtom), true, __half());
  wgmma_commit();
  if (mistake == kReadBeforeWait) {
    out[threadIdx.x] = d[0][0];
  }
  if (mistake == kWriteBeforeWait) {
    d[0][0] *= 0.5f;
  }
  if (mistake == kOperandChanged) {
    a[0] = 1;
  }
  if (mistake != kNoWait) {
    wgmma_wait<0>();
  }
  if (mistake != kReadBeforeWait) {
    out[threadIdx.x] = d[0][0];
  }
}

/// Runs a kernel of one warpgroup; what it has stored.
std::vector<float> run_kernel(void (*kernel)(float*, int), int argument) {
  std::vector<float> result(kRows * kColumns);
  const std::size_t bytes = result.size() * sizeof(float);
  float* device = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&device), bytes);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 128;
  config.dynamicSmemBytes = kSharedBytes;
  EXPECT_EQ(cudaLaunchKernelEx(&config, kernel, device, argument), cudaSuccess);
  cudaMemcpy(result.data(), device, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device);
  return result;
}

void expect_products(const std::vector<float>& got, float times) {
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      ASSERT_EQ(got[static_cast<std::size_t>(i * kColumns + j)], times * product_at(i, j))
          << i << " " << j;
    }
  }
}

TEST(WarpgroupProducts, OperandsWithTheDepthInRows) {
  for (const int column : {0, 16, 48}) {
    expect_products(run_kernel(depth_in_rows, column), 1);
  }
}

TEST(WarpgroupProducts, OperandInRegistersAndPanelsOfColumns) {
  expect_products(run_kernel(columns_in_rows, 1), 1);
  expect_products(run_kernel(columns_in_rows, 3), 3);
}

TEST(WarpgroupProducts, NobodyReadsBeforeTheWait) {
  EXPECT_EQ(run_kernel(mistaken, kNone)[5], 0);
  EXPECT_TRUE(std::isnan(run_kernel(mistaken, kReadBeforeWait)[5]));
}

TEST(WarpgroupProductsDeathTest, MistakesAreNamed) {
  EXPECT_DEATH(run_kernel(mistaken, kNoFence), "without a fence");
  EXPECT_DEATH(run_kernel(mistaken, kWriteBeforeWait), "accumulators changed before");
  EXPECT_DEATH(run_kernel(mistaken, kNoWait), "nobody has waited for");
  EXPECT_DEATH(run_kernel(mistaken, kOperandChanged), "operand changed before");
}

}  // namespace warpgroup_products_test
}  // namespace mpitron::emulator
