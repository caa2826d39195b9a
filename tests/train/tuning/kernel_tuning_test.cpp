#include "train/tuning/kernel_tuning.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"

namespace mpitron::train {
namespace kernel_tuning_test {

TEST(KernelTuning, ChoicesLieInTheUsersCacheByTheGpusName) {
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string saved = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(default_tuning_file("NVIDIA H200"), "/somewhere/mpitron/attention-NVIDIA-H200.json");
  before == nullptr ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", saved.c_str(), 1);
}

TEST(KernelTuning, TheHostHasNothingToChoose) {
  const auto host = device::make_device("host");
  const auto world = comm::make_single_world();
  KernelTuning tuning(*host, *world, tiny_run({}));
  EXPECT_FALSE(tuning.complete());
}

}  // namespace kernel_tuning_test
}  // namespace mpitron::train
