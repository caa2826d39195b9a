#include <cmath>

#include <gtest/gtest.h>

#include "doctor/node_speed_check.h"

namespace mpitron::doctor {
namespace clock_check_test {

TEST(ClockCheck, OneRankHasNothingToCompareWith) {
  EXPECT_EQ(check_clocks({{"n1", 0}}).verdict, Verdict::skipped);
}

TEST(ClockCheck, ClocksThatAgreePass) {
  const CheckResult result = check_clocks({{"n1", 0}, {"n2", -0.004}, {"n3", 0.002}});
  EXPECT_EQ(result.verdict, Verdict::ok);
  EXPECT_EQ(result.found, "at most 0.004 s apart from rank 0's");
}

TEST(ClockCheck, NamesTheNodesThatAreOff) {
  const CheckResult result = check_clocks({{"n1", 0}, {"n2", 3}, {"n2", 3}, {"n3", -2}});
  EXPECT_EQ(result.verdict, Verdict::warn);
  EXPECT_EQ(result.found, "at most 3.000 s apart from rank 0's: n[2-3]");
  EXPECT_NE(result.advice.find("chronyc"), std::string::npos);
  EXPECT_EQ(check_clocks({{"n1", 0}, {"n2", 200}}).verdict, Verdict::fail);
}

TEST(ClockCheck, ReadsAllRanks) {
  comm::run_thread_world(3, [](comm::World& world) {
    const auto readings = read_clocks(world);
    EXPECT_EQ(readings.size(), world.rank() == 0 ? 3U : 0U);
    for (const ClockReading& reading : readings) {
      EXPECT_LT(std::abs(reading.seconds), 60);  // one clock, read by threads that may wait
    }
  });
}

}  // namespace clock_check_test

}  // namespace mpitron::doctor
