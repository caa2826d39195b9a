#include "plan/time/collective_time.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace collective_time_test {

Machine machine() {
  Machine m;
  m.node_gpus = 8;
  m.link_bandwidth = 100e9;
  m.link_share = 1;
  m.link_latency = 1e-6;
  m.network_bandwidth = 10e9;
  m.network_share = 1;
  m.network_latency = 1e-5;
  return m;
}

TEST(CollectiveTime, ARingOnANode) {
  EXPECT_DOUBLE_EQ(gather_time(machine(), {4, 1}, 4e9), 0.75 * 4e9 / 100e9 + 3e-6);
  EXPECT_DOUBLE_EQ(all_reduce_time(machine(), {4, 1}, 4e9), 2 * (0.75 * 4e9 / 100e9 + 3e-6));
}

TEST(CollectiveTime, OneRankNeedsNothing) {
  EXPECT_EQ(gather_time(machine(), {1, 1}, 4e9), 0);
  EXPECT_EQ(send_time(machine(), {1, 8}, 4e9), 0);
  EXPECT_EQ(exchange_time(machine(), {1, 1}, {100, 2, 4}), 0);
}

TEST(CollectiveTime, MembersOnANodeShareTheirNetworks) {
  // 32 ranks on 4 nodes, 8 a node: 80e9, below the link's 100e9.
  EXPECT_NEAR(gather_time(machine(), {32, 1}, 1e9), 31.0 / 32 * 1e9 / 80e9 + 6e-6 + 3e-5, 1e-12);
  // Every eighth rank: one a node, its own network alone.
  EXPECT_NEAR(gather_time(machine(), {4, 8}, 1e9), 0.75 * 1e9 / 10e9 + 3e-5, 1e-12);
}

TEST(CollectiveTime, ATokenTravelsOnceToANode) {
  const Exchange exchange{.tokens = 1000, .choices = 8, .bytes = 1000};
  const double nodes = 4;
  const double met = nodes * (1 - std::pow(1 - 1 / nodes, 8));
  EXPECT_NEAR(exchange_time(machine(), {32, 1}, exchange),
              1e-6 + 1e6 * 8 * 7 / 8 / 100e9 + 1e-5 + 1e6 * met * 0.75 / 10e9, 1e-12);
}

TEST(CollectiveTime, MoreBandwidthIsNeverSlower) {
  Machine fast = machine();
  fast.network_bandwidth *= 2;
  for (const double size : {2.0, 8.0, 16.0, 64.0, 1024.0}) {
    for (const double stride : {1.0, 4.0, 8.0}) {
      EXPECT_LE(gather_time(fast, {size, stride}, 1e8),
                gather_time(machine(), {size, stride}, 1e8));
    }
  }
}

}  // namespace collective_time_test
}  // namespace mpitron::plan
