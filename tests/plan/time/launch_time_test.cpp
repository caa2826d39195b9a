#include <gtest/gtest.h>

#include "plan/time/timed_layer.h"

namespace mpitron::plan {
namespace launch_time_test {

TEST(LaunchTime, AHostThatWaitsHidesNoLaunch) {
  Stack stack = *Library().stack("megatron");
  stack.launch = 1e-5;
  const double hidden = test::timed_layer({.gpus = 1}, 8192, stack).forward.launch;
  stack.waits_for_kernels = 1;
  const LayerTime open = test::timed_layer({.gpus = 1}, 8192, stack);
  EXPECT_GT(open.forward.launch, 100 * hidden);
  EXPECT_NEAR(open.backward.launch, 2 * open.forward.launch, 1e-12);
}

}  // namespace launch_time_test
}  // namespace mpitron::plan
