#include <gtest/gtest.h>

#include "plan/time/timed_layer.h"

namespace mpitron::plan {
namespace traffic_time_test {

/// Of two operations forward and three backward, with sequence parallelism, one is left there.
TEST(TrafficTime, ProductsOfGradientsHideTensorTraffic) {
  Stack stack = *Library().stack("megatron");
  stack.tensor_overlap = 0;
  stack.backward_tensor_hidden = 0;
  const LayerTime open = test::timed_layer({.gpus = 8, .tensor = 4}, 4096, stack);
  EXPECT_NEAR(open.backward.tensor, 1.5 * open.forward.tensor, 1e-12);
  stack.backward_tensor_hidden = 1;
  const LayerTime hidden = test::timed_layer({.gpus = 8, .tensor = 4}, 4096, stack);
  EXPECT_EQ(hidden.forward.tensor, open.forward.tensor);
  EXPECT_NEAR(hidden.backward.tensor, 0.5 * open.forward.tensor, 1e-12);
}

}  // namespace traffic_time_test
}  // namespace mpitron::plan
