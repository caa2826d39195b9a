#include <gtest/gtest.h>

#include "plan/time/timed_layer.h"

namespace mpitron::plan {
namespace attention_time_test {

/// What a ring's kernels lose is what shorter ones lose: two ranks need 1.75 for a query.
TEST(AttentionTime, AQueryMeetsTheKeysOfARingInSeveralKernels) {
  const Stack stack = *Library().stack("megatron");
  const Machine machine = *Library().machine("h100-dgx");
  const double sequence = 8192;
  const auto attention = [&](Index context) {
    return test::timed_layer({.gpus = 8, .context = context}, 8192, stack).forward.attention;
  };
  const double whole = 1 + machine.attention_half / sequence;
  EXPECT_NEAR(2 * attention(2) / attention(1),
              (1 + 1.75 * machine.attention_half / sequence) / whole, 1e-9);
  EXPECT_NEAR(8 * attention(8) / attention(1),
              (1 + 6.25 * machine.attention_half / sequence) / whole, 1e-9);
}

TEST(AttentionTime, OutputsOfARingAreSummedUp) {
  const Stack stack = *Library().stack("megatron");
  const auto moved = [&](Index context) {
    return test::timed_layer({.gpus = 8, .context = context}, 8192, stack).forward.elementwise;
  };
  EXPECT_GT(2 * moved(2), 1.1 * moved(1));
  EXPECT_GT(4 * moved(4), 1.1 * 2 * moved(2));
}

}  // namespace attention_time_test
}  // namespace mpitron::plan
