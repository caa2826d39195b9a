#include <gtest/gtest.h>

#include "train/log/memory_report.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace memory_holders_test {

TEST(MemoryHolders, AreTold) {
  const auto device = device::make_device("host");
  TinyTraining training(*device, tiny_run({"--hidden-size", "256"}));
  // 1.6 million parameters in fp32, as many gradients, twice as many values of Adam.
  EXPECT_EQ(memory_holders(training.model, training.step),
            "parameters hold 6 MiB, gradients 6 MiB, the optimizer 12 MiB; what else is in use are "
            "activations and scratch memory");
}

TEST(MemoryHolders, NumbersOfEightBitsAreTold) {
  const auto device = device::make_device("host");
  TinyTraining training(*device,
                        tiny_run({"--hidden-size", "256", "--bf16", "--fp8-format", "hybrid"}));
  EXPECT_NE(memory_holders(training.model, training.step)
                .find("parameters hold 3 MiB, their numbers of 8 bits 3 MiB, gradients 6 MiB"),
            std::string::npos);
}

}  // namespace memory_holders_test
}  // namespace mpitron::train
