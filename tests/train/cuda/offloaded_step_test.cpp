#include <gtest/gtest.h>

#include "train/tiny_run.h"

namespace mpitron::train {
namespace offloaded_step_test {

struct Outcome {
  std::vector<double> told;  // loss and gradient norm
  Index high_water = 0;
};

Outcome train(const char* offloaded_layers) {
  const auto gpu = device::make_cuda_device(0);
  TinyTraining training(
      *gpu, tiny_run({"--num-layers", "3", "--hidden-size", "64", "--num-attention-heads", "1",
                      "--micro-batch-size", "8", "--cpu-offloading-num-layers", offloaded_layers}));
  TinyCorpus corpus;
  const StepReport report = training.step.run(1, 1, 8, corpus.from(0, 8));
  return {{report.loss(), report.grad_norm}, gpu->allocator().statistics().high_water};
}

TEST(OffloadedStep, ComputesTheSameBitsInLessMemoryOfTheGpu) {
  const Outcome plain = train("0"), offloaded = train("3");
  EXPECT_EQ(offloaded.told, plain.told);
  EXPECT_LT(offloaded.high_water, plain.high_water);
}

}  // namespace offloaded_step_test
}  // namespace mpitron::train
