#include "kernels/cuda/attention/attention_kernels.h"

#include <gtest/gtest.h>

#include "device_under_test.h"
#include "tests/kernels/attention_case.h"

namespace mpitron::kernels::cuda::attention {
namespace attention_kernels_test {

/// Whether the case fits, on a GPU for which attention_kernels.h promises what it says.
class AttentionKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    int major = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    if (major != 9) {
      GTEST_SKIP() << "no warpgroup instructions: compute capability " << major;
    }
  }
  /// Whether it runs forward and backward of the case.
  static std::pair<bool, bool> fits(const AttentionCase& c) {
    AttentionFixture fixture(c);
    AttentionResults results(c, c.dtype, DType::f32);
    TestMemoryOnGpu& gpu = TestMemoryOnGpu::instance();
    const AttentionForward forward = fixture.forward(results);
    const AttentionBackward backward = fixture.backward(results);
    gpu.upload();
    return {wgmma_fits(gpu.stream(), moved_to_gpu(forward)),
            wgmma_fits(gpu.stream(), moved_to_gpu(backward))};
  }
};

constexpr std::pair kBoth(true, true), kNone(false, false), kForwardAlone(true, false);

TEST_F(AttentionKernels, HeadSizesThatFit) {
  for (const DType type : {DType::bf16, DType::f16}) {
    for (const Index d : {16, 40, 64, 96, 128}) {
      EXPECT_EQ(fits({.dtype = type, .n = 2, .d = d, .dv = d}), kBoth) << d;
    }
    EXPECT_EQ(fits({.dtype = type, .n = 2, .d = 192, .dv = 128}), kForwardAlone);
    EXPECT_EQ(fits({.dtype = type, .n = 4, .g = 2, .fused = true}), kBoth);
    EXPECT_EQ(fits({.dtype = type, .n = 2, .bias = true}), kForwardAlone);
  }
}

TEST_F(AttentionKernels, WhatDoesNotFit) {
  EXPECT_EQ(fits({.dtype = DType::f32, .n = 2}), kNone);
  EXPECT_EQ(fits({.dtype = DType::bf16, .n = 2, .d = 256, .dv = 256}), kNone);
  EXPECT_EQ(fits({.dtype = DType::bf16, .n = 2, .d = 192, .dv = 192}), kNone);
  EXPECT_EQ(fits({.dtype = DType::bf16, .n = 2, .d = 15, .dv = 16}), kNone) << "rows of 30 bytes";
  EXPECT_EQ(fits({.dtype = DType::bf16, .s_kv = 0, .n = 2}), kNone);
}

}  // namespace attention_kernels_test
}  // namespace mpitron::kernels::cuda::attention
