#include <gtest/gtest.h>

#include "doctor/node_speed_check.h"
#include "support/host_runtime.h"

namespace mpitron::doctor {
namespace speed_probe_test {

TEST(SpeedProbe, MeasuresProductAndMemoryWithAllRanks) {
  const auto host = device::make_device("host");
  int barriers = 0;
  const Speed speed = measure_speed(
      *host,
      {.side = 64, .bytes = Index{1} << 20, .repetitions = 3, .barrier = [&] { ++barriers; }});
  EXPECT_GT(speed.flops, 0);
  EXPECT_GT(speed.bytes_per_s, 0);
  EXPECT_EQ(barriers, 6);
}

}  // namespace speed_probe_test
}  // namespace mpitron::doctor
