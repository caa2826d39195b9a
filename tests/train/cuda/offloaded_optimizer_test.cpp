#include "train/checkpoint_run.h"

// The share of the optimizer that the processor updates for a GPU (--optimizer-cpu-offload).

namespace mpitron::train {
namespace offloaded_optimizer_test {

const Flags kTypes = {
    "--bf16", "--use-distributed-optimizer",    "--exp-avg-dtype", "bf16", "--exp-avg-sq-dtype",
    "fp8",    "--use-precision-aware-optimizer"};

struct Trained {
  std::vector<double> losses, grad_norms;
  Index device_bytes = 0, host_bytes = 0;  // of the optimizer
  Index in_use = 0;                        // of the GPU's memory
};

Trained train(const Flags& flags) {
  const auto gpu = device::make_cuda_device(0);
  TinyTraining training(*gpu, tiny_run(flags));
  TinyCorpus corpus(true);
  Trained result;
  for (Index iteration = 1; iteration <= 2; ++iteration) {
    const StepReport report = training.step.run(iteration, 4, 8, corpus.from(8 * iteration, 2));
    result.losses.push_back(report.loss());
    result.grad_norms.push_back(report.grad_norm);
  }
  result.device_bytes = training.step.optimizer().device_bytes();
  result.host_bytes = training.step.optimizer().host_bytes();
  result.in_use = gpu->allocator().statistics().bytes_in_use;
  return result;
}

TEST(OffloadedOptimizer, HasTheBitsOfTheGpusInLessOfItsMemory) {
  const Trained on_gpu = train(kTypes);
  EXPECT_EQ(on_gpu.host_bytes, 0);
  const Flags ways[] = {{},
                        {"--optimizer-offload-fraction", "0.5", "--overlap-cpu-optimizer-d2h-h2d",
                         "--no-pin-cpu-grads", "--no-pin-cpu-params"}};
  for (const Flags& way : ways) {
    SCOPED_TRACE(::testing::PrintToString(way));
    const Trained shared = train(kTypes + Flags{"--optimizer-cpu-offload"} + way);
    EXPECT_EQ(shared.losses, on_gpu.losses);
    EXPECT_EQ(shared.grad_norms, on_gpu.grad_norms);
    EXPECT_GT(shared.host_bytes, 0);
    EXPECT_LT(shared.device_bytes, on_gpu.device_bytes * 6 / 10);
    EXPECT_LE(shared.in_use, on_gpu.in_use - (on_gpu.device_bytes - shared.device_bytes));
  }
}

TEST(OffloadedOptimizer, ItsCheckpointsResumeWithAndWithoutIt) {
  const auto gpu = [] { return device::make_cuda_device(0); };
  const Flags offloaded =
      kTypes + Flags{"--optimizer-cpu-offload", "--optimizer-offload-fraction", "0.5"};
  const test::TemporaryFolder folder;
  const Flags save{"--async-save", "--save", folder.path()}, load{"--load", folder.path()};
  const RunRecord whole = run_with_checkpoints(offloaded, 1, 2, {}, gpu);
  run_with_checkpoints(offloaded + save, 1, 1, {1}, gpu);
  for (const Flags& flags : {offloaded, kTypes}) {
    const RunRecord rest = run_with_checkpoints(flags + load, 1, 2, {}, gpu);
    EXPECT_EQ(rest.start, 1);
    EXPECT_EQ(rest.state[0], whole.state[0]);
    EXPECT_EQ(rest.losses.back(), whole.losses.back());
  }
}

}  // namespace offloaded_optimizer_test
}  // namespace mpitron::train
