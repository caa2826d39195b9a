#include "train/step/microbatch_states.h"

#include <gtest/gtest.h>

namespace mpitron::train {
namespace microbatch_states_test {

TEST(MicrobatchStates, MemoryOfAFinishedOneIsUsedAgain) {
  const auto device = device::make_device("host");
  MicrobatchStates states(*device, 2);
  MicrobatchState& first = states.start(0, 0);
  MicrobatchState& second = states.start(1, 0);
  EXPECT_FALSE(first.offload) << "activations are in the host's memory anyway";
  EXPECT_EQ(&states.at(1, 0), &second);
  states.finish(0, 0);
  EXPECT_EQ(&states.start(0, 1), &first);
}

}  // namespace microbatch_states_test
}  // namespace mpitron::train
