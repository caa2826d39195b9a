#include "train/memory_holders.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"

namespace mpitron::train {
namespace {

TEST(MemoryHolders, AreTold) {
  const auto device = device::make_device("host");
  TinyTraining training(*device, tiny_run({"--hidden-size", "256"}));
  // 1.6 million parameters in fp32, as many gradients, twice as many values of Adam.
  EXPECT_EQ(memory_holders(training.model, training.step),
            "parameters hold 6 MiB, gradients 6 MiB, the optimizer 12 MiB; what else is in use are "
            "activations and scratch memory");
}

}  // namespace
}  // namespace mpitron::train
