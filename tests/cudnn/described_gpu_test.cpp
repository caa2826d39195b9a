// Whether cuDNN knows our graphs, and has engines for them that give the same bits in every run.
#include "cudnn/described_gpu.h"

#include <algorithm>
#include <span>

#include <gtest/gtest.h>

#include "kernels/cuda/attention/attention_kernels.h"
#include "kernels/cuda/attention/fused_graph.h"

namespace mpitron::cudnn {
namespace described_gpu_test {

using kernels::AttentionBackward;
using kernels::AttentionForward;

struct Case {
  const char* what;
  DType type = DType::bf16;
  Index s = 1024, s_kv = 1024, b = 2, n = 8, g = 8, d = 64, dv = 64;
  bool causal = true;
  Index window = -1;
  bool fused = false;              // q, k, v of each group side by side
  Index masks = 0, mask_rows = 1;  // samples and queries of a mask
};

constexpr Case kCases[] = {
    {.what = "causal"},
    {.what = "fp16, not causal", .type = DType::f16, .causal = false},
    {.what = "one fused tensor", .d = 128, .dv = 128, .fused = true},
    {.what = "groups", .n = 32, .d = 128, .dv = 128},
    {.what = "groups of one fused tensor",
     .s = 4096,
     .s_kv = 4096,
     .b = 1,
     .n = 32,
     .d = 128,
     .dv = 128,
     .fused = true},
    {.what = "no whole tiles", .s = 1000, .s_kv = 1000},
    {.what = "window", .window = 511},
    {.what = "the last queries", .s = 512},
    {.what = "window of the last queries", .s = 512, .window = 100},
    {.what = "small heads", .d = 8, .dv = 8},
    {.what = "padding", .s = 512, .s_kv = 512, .causal = false, .fused = true, .masks = 2},
    {.what = "padding of queries, too",
     .s = 512,
     .s_kv = 512,
     .causal = false,
     .fused = true,
     .masks = 2,
     .mask_rows = 512},
    {.what = "padding of the other sequence", .s = 128, .s_kv = 509, .causal = false, .masks = 2},
    {.what = "a causal mask for all samples", .type = DType::f16, .masks = 1, .mask_rows = 1024},
};
constexpr Case kWideHeads[] = {{.what = "latent attention", .d = 192, .dv = 128},
                               {.what = "wide heads", .d = 256, .dv = 256}};

/// The tensors of a case, which no kernel touches.
class Attention {
 public:
  explicit Attention(const Case& c) : c_(c) {
    const Index r = c.n / c.g, width = (r + 1) * c.d + c.dv;
    qkv_ = view({c.s, c.b, c.g, width});
    q_ = c.fused ? part({c.s, c.b, c.g, r, c.d}, 0) : view({c.s, c.b, c.n, c.d});
    k_ = c.fused ? part({c.s, c.b, c.g, c.d}, r * c.d) : view({c.s_kv, c.b, c.g, c.d});
    v_ = c.fused ? part({c.s, c.b, c.g, c.dv}, (r + 1) * c.d) : view({c.s_kv, c.b, c.g, c.dv});
    o_ = view({c.s, c.b, c.n, c.dv});
    lse_ = device::TensorView(place_, DType::f32, {c.b, c.n, c.s});
  }

  AttentionForward forward() const {
    AttentionForward kernel;
    set(kernel);
    return kernel;
  }
  AttentionBackward backward() const {
    AttentionBackward kernel;
    set(kernel);
    kernel.d_o = o_;
    kernel.dq = q_;
    kernel.dk = k_;
    kernel.dv = v_;
    return kernel;
  }

 private:
  device::TensorView view(const Shape& shape) const { return {place_, c_.type, shape}; }
  /// Heads of the fused tensor.
  device::TensorView part(const Shape& shape, Index first) const {
    device::TensorView heads = view(shape);
    heads.data = place_ + first * 2;
    std::copy_n(qkv_.strides.begin(), 3, heads.strides.begin());
    return heads;
  }
  template <class Kernel>
  void set(Kernel& kernel) const {
    kernel.q = q_;
    kernel.k = k_;
    kernel.v = v_;
    kernel.o = o_;
    kernel.lse = lse_;
    kernel.causal = c_.causal;
    kernel.window = c_.window;
    if (c_.masks > 0) {
      kernel.mask = device::TensorView(place_, DType::u8, {c_.masks, c_.mask_rows, c_.s_kv});
    }
  }

  alignas(16) static inline char place_[1 << 16];
  Case c_;
  device::TensorView qkv_, q_, k_, v_, o_, lse_;
};

class DescribedGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kernels::cuda::cudnn_version() < 91600) {
      GTEST_SKIP() << "no cuDNN 9.16 or later here: " << kernels::cuda::cudnn_version();
    }
  }
  /// Plans are kept for each device: GPUs are told apart by their numbers.
  static bool runs(DescribedGpu gpu, const auto& kernel) {
    describe_gpu(gpu);
    device::CudaStream stream;
    stream.device = static_cast<int>(gpu);
    return kernels::cuda::attention::cudnn_fits(stream, kernel);
  }
};

TEST_F(DescribedGpuTest, AnH200RunsForwardAndBackward) {
  for (const auto& cases : {std::span<const Case>(kCases), std::span<const Case>(kWideHeads)}) {
    for (const Case& c : cases) {
      EXPECT_TRUE(runs(DescribedGpu::h200, Attention(c).forward())) << c.what;
      EXPECT_TRUE(runs(DescribedGpu::h200, Attention(c).backward())) << c.what;
    }
  }
}

/// The deterministic backward keeps dS, in half precision: 3.2 GiB of these 3 samples.
TEST_F(DescribedGpuTest, ABackwardThatKeepsTooMuchIsOurs) {
  Case c = kCases[4];
  c.b = 3;
  EXPECT_TRUE(runs(DescribedGpu::h200, Attention(c).forward()));
  EXPECT_FALSE(runs(DescribedGpu::h200, Attention(c).backward()));
}

TEST_F(DescribedGpuTest, AnA100RunsBothButForWideHeads) {
  for (const Case& c : kCases) {
    EXPECT_TRUE(runs(DescribedGpu::a100, Attention(c).forward())) << c.what;
    EXPECT_TRUE(runs(DescribedGpu::a100, Attention(c).backward())) << c.what;
  }
  for (const Case& c : kWideHeads) {
    EXPECT_TRUE(runs(DescribedGpu::a100, Attention(c).forward())) << c.what;
    EXPECT_FALSE(runs(DescribedGpu::a100, Attention(c).backward())) << c.what;
  }
}

}  // namespace described_gpu_test
}  // namespace mpitron::cudnn
