#include "train/tuning/kernel_tuning.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"

namespace mpitron::train {
namespace {

using kernels::AttentionKernel;

TEST(KernelTuning, ChoicesLieInTheUsersCacheByTheGpusName) {
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string saved = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(default_tuning_file("NVIDIA H200"), "/somewhere/mpitron/attention-NVIDIA-H200.json");
  before == nullptr ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", saved.c_str(), 1);
}

TEST(KernelTuning, ABackendIsAnOrderOfKernels) {
  const auto host = device::make_device("host");
  const auto world = comm::make_single_world();
  const auto order = [&](const char* backend) {
    KernelTuning tuning(*host, *world, tiny_run({"--attention-backend", backend}));
    EXPECT_FALSE(tuning.complete()) << "the host has one kernel";
    return kernels::attention_choices().order;
  };
  EXPECT_EQ(order("fused"),
            (std::vector{AttentionKernel::cudnn, AttentionKernel::wgmma, AttentionKernel::mma}));
  for (const char* backend : {"flash", "auto"}) {
    EXPECT_EQ(order(backend), (std::vector{AttentionKernel::wgmma, AttentionKernel::mma}))
        << backend;
  }
  for (const char* backend : {"unfused", "local"}) {
    EXPECT_EQ(order(backend), std::vector{AttentionKernel::mma}) << backend;
  }
}

}  // namespace
}  // namespace mpitron::train
