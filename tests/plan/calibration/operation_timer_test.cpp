#include "plan/calibration/operation_timer.h"

#include <gtest/gtest.h>

#include "comm/groups/world.h"

namespace mpitron::plan {
namespace operation_timer_test {

/// A group of one does every operation alone.
TEST(OperationTimer, TimesEachOperation) {
  const auto device = device::make_device("host");
  const auto world = comm::make_single_world();
  OperationTimer timer(*device, *world->all(), 1024);
  using enum comm::CollectiveKind;
  for (const comm::CollectiveKind kind : {all_reduce, reduce_scatter, all_gather, barrier}) {
    const double seconds = timer.time(kind);
    EXPECT_GE(seconds, 0);
    EXPECT_LT(seconds, 1);
  }
}

}  // namespace operation_timer_test
}  // namespace mpitron::plan
