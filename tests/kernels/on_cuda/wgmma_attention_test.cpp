#include <gtest/gtest.h>

#include "device_under_test.h"
#include "kernels/cuda/attention_kernels.h"
#include "tests/kernels/attention_case.h"

namespace mpitron::kernels::cuda::attention {
namespace {

/// Whether the case fits, on a GPU for which attention_kernels.h promises what it says.
class WgmmaAttention : public ::testing::Test {
 protected:
  void SetUp() override {
    int major = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    if (major != 9) {
      GTEST_SKIP() << "no warpgroup instructions: compute capability " << major;
    }
  }
  static bool fits(const AttentionCase& c) {
    AttentionFixture fixture(c);
    AttentionResults results(c, c.dtype, DType::f32);
    TestMemoryOnGpu& gpu = TestMemoryOnGpu::instance();
    const AttentionForward kernel = fixture.forward(results);
    gpu.upload();
    return wgmma_fits(gpu.stream(), moved_to_gpu(kernel));
  }
};

TEST_F(WgmmaAttention, HeadSizesThatFit) {
  for (const DType type : {DType::bf16, DType::f16}) {
    for (const Index d : {16, 40, 64, 96, 128}) {
      EXPECT_TRUE(fits({.dtype = type, .n = 2, .d = d, .dv = d})) << d;
    }
    EXPECT_TRUE(fits({.dtype = type, .n = 2, .d = 192, .dv = 128}));
    EXPECT_TRUE(fits({.dtype = type, .n = 4, .g = 2, .fused = true}));
  }
}

TEST_F(WgmmaAttention, WhatDoesNotFit) {
  EXPECT_FALSE(fits({.dtype = DType::f32, .n = 2}));
  EXPECT_FALSE(fits({.dtype = DType::bf16, .n = 2, .d = 256, .dv = 256}));
  EXPECT_FALSE(fits({.dtype = DType::bf16, .n = 2, .d = 192, .dv = 192}));
  EXPECT_FALSE(fits({.dtype = DType::bf16, .n = 2, .d = 15, .dv = 16}));  // rows of 30 bytes
  EXPECT_FALSE(fits({.dtype = DType::bf16, .s_kv = 0, .n = 2}));
}

}  // namespace
}  // namespace mpitron::kernels::cuda::attention
