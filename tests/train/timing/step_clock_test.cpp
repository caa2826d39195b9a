#include "train/timing/step_clock.h"

#include <gtest/gtest.h>

#include "comm/groups/work.h"

namespace mpitron::train {
namespace step_clock_test {

TEST(StepClock, CountsWaitingWhileItRuns) {
  StepClock clock;
  comm::add_waited_seconds(8);  // before it starts
  clock.start();
  comm::add_waited_seconds(1);
  clock.stop();
  comm::add_waited_seconds(16);  // an evaluation
  clock.start();
  comm::add_waited_seconds(2);
  const StepTime time = clock.elapsed();
  EXPECT_EQ(time.waited, 3);
  EXPECT_GE(time.seconds, 0);
  EXPECT_EQ(time.busy(), time.seconds - 3);
}

TEST(StepClock, GoesOnFromZero) {
  StepClock clock;
  clock.start();
  comm::add_waited_seconds(1);
  clock.elapsed();
  EXPECT_EQ(clock.elapsed().waited, 0);
  comm::add_waited_seconds(4);
  EXPECT_EQ(clock.elapsed().waited, 4);
}

}  // namespace step_clock_test
}  // namespace mpitron::train
