#include <cmath>

#include <gtest/gtest.h>

#include "train/tiny_run.h"

namespace mpitron::train {
namespace gpu_step_test {

struct GpuStepCase {
  const char* name;
  std::vector<std::string> flags;
  double tolerance;  // of losses and gradient norms, relative
};
void PrintTo(const GpuStepCase& one, std::ostream* out) {
  *out << one.name;
}

class GpuStepTest : public ::testing::TestWithParam<GpuStepCase> {
 protected:
  static std::vector<StepReport> train(device::Device& device, Index steps) {
    TinyTraining training(device, tiny_run(GetParam().flags));
    TinyCorpus corpus(true);
    std::vector<StepReport> reports;
    for (Index iteration = 1; iteration <= steps; ++iteration) {
      reports.push_back(training.step.run(iteration, 4, 8, corpus.from(8 * iteration, 2)));
    }
    return reports;
  }
};

TEST_P(GpuStepTest, LosesWhatTheHostDoesWithTheSameBitsEveryTime) {
  const auto gpu = device::make_cuda_device(0), other = device::make_cuda_device(0);
  const auto host = device::make_device("host");
  const std::vector<StepReport> got = train(*gpu, 3), again = train(*other, 3),
                                expected = train(*host, 3);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double tolerance = GetParam().tolerance;
    EXPECT_NEAR(got[i].loss() / expected[i].loss(), 1, tolerance) << i;
    EXPECT_NEAR(got[i].grad_norm / expected[i].grad_norm, 1, 10 * tolerance) << i;
    EXPECT_EQ(got[i].loss(), again[i].loss()) << i;
    EXPECT_EQ(got[i].grad_norm, again[i].grad_norm) << i;
  }
}

TEST_P(GpuStepTest, AsksTheDriverForNothingInASteadyStep) {
  const auto gpu = device::make_cuda_device(0);
  TinyTraining training(*gpu, tiny_run(GetParam().flags));
  TinyCorpus corpus;
  device::AllocatorStatistics before{};
  for (Index iteration = 1; iteration <= 5; ++iteration) {
    training.step.run(iteration, 4, 8, corpus.from(8, 2));
    const device::AllocatorStatistics now = gpu->allocator().statistics();
    if (iteration > 3) {
      EXPECT_EQ(now.system_allocations, before.system_allocations);
      EXPECT_EQ(now.bytes_in_use, before.bytes_in_use);
    }
    before = now;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, GpuStepTest,
    ::testing::Values(
        GpuStepCase{"dense", {}, 1e-5},
        GpuStepCase{"llama_bf16",
                    {"--swiglu", "--ffn-hidden-size", "32", "--position-embedding-type", "rope",
                     "--normalization", "RMSNorm", "--disable-bias-linear", "--bf16"},
                    1e-2},
        GpuStepCase{
            "fp8", {"--bf16", "--fp8-format", "hybrid", "--fp8-amax-history-len", "2"}, 1e-2},
        GpuStepCase{
            "fp8_blocks", {"--bf16", "--fp8-format", "e4m3", "--fp8-recipe", "blockwise"}, 1e-2},
        GpuStepCase{"fp8_experts",
                    {"--num-layers", "1", "--disable-bias-linear", "--num-experts", "4",
                     "--moe-ffn-hidden-size", "32", "--moe-shared-expert-intermediate-size", "16",
                     "--bf16", "--fp8-format", "hybrid", "--fp8-recipe", "tensorwise"},
                    1e-2},
        GpuStepCase{"lion_sinks_clip",
                    {"--optimizer", "lion", "--softmax-type", "learnable", "--window-size", "3,0",
                     "--qk-clip", "--qk-clip-threshold", "0.01"},
                    1e-5},
        GpuStepCase{
            "four_bit_base",
            {"--hidden-size", "64", "--lora-rank", "4", "--lora-base-weights", "nf4", "--bf16"},
            1e-2},
        GpuStepCase{"experts",
                    {"--disable-bias-linear", "--num-experts", "4", "--moe-aux-loss-coeff", "0.1",
                     "--moe-grouped-gemm"},
                    1e-4}),
    [](const auto& info) { return info.param.name; });

}  // namespace gpu_step_test
}  // namespace mpitron::train
