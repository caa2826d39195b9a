#include "doctor/node_speed_check.h"

#include <gtest/gtest.h>

namespace mpitron::doctor {
namespace node_speed_check_test {

NodeSpeed node(const std::string& name, double flops, double bytes_per_s, Index ranks = 8) {
  return {.node = name, .ranks = ranks, .speed = {.flops = flops, .bytes_per_s = bytes_per_s}};
}

TEST(NodeSpeedCheck, FlagsWhatIsFarBelowTheMedian) {
  const std::vector<NodeSpeed> nodes = {node("n1", 100, 50), node("n2", 102, 51),
                                        node("n3", 84, 50), node("n4", 99, 40),
                                        node("n5", 101, 49)};
  const auto slow = slow_nodes(nodes, 0.85);
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_EQ(slow[0].node, "n3");
  EXPECT_EQ(slow[0].reason, "computes 84 % of the median");
  EXPECT_EQ(slow[1].node, "n4");
  EXPECT_EQ(slow[1].reason, "memory 80 % of the median");
  EXPECT_TRUE(slow_nodes(nodes, 0.75).empty());
  EXPECT_EQ(slow_nodes(nodes, 0.995).size(), 3U);
}

TEST(NodeSpeedCheck, OneSlowNodeDoesNotMoveTheMedian) {
  std::vector<NodeSpeed> nodes;
  for (int i = 0; i < 15; ++i) {
    nodes.push_back(node("n" + std::to_string(i), 100, 50));
  }
  nodes[3].speed = {.flops = 1, .bytes_per_s = 1};
  const auto slow = slow_nodes(nodes, 0.85);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].node, "n3");
}

TEST(NodeSpeedCheck, OnlyNodesOfAsManyRanksAreCompared) {
  EXPECT_TRUE(
      slow_nodes({node("n1", 100, 50, 8), node("n2", 100, 50, 8), node("n3", 13, 7, 1)}, 0.85)
          .empty());
  EXPECT_TRUE(slow_nodes({node("n1", 100, 50)}, 0.85).empty());
  EXPECT_TRUE(slow_nodes({}, 0.85).empty());
}

TEST(NodeSpeedCheck, TellsWhomToLeaveOut) {
  const std::vector<NodeSpeed> nodes = {node("n1", 2e9, 3e9), node("n2", 2e9, 3e9),
                                        node("n3", 2e9, 3e9)};
  const CheckResult good = check_node_speeds(nodes, {});
  EXPECT_EQ(good.verdict, Verdict::ok);
  EXPECT_EQ(good.found, "median of a node: 2 GFLOP/s (fp32 product), 3.0 GB/s (memory)");
  const CheckResult bad = check_node_speeds(nodes, {{"n2", "memory 50 % of the median"}});
  EXPECT_EQ(bad.verdict, Verdict::warn);
  EXPECT_NE(bad.found.find("slow: n2 (memory 50 % of the median)"), std::string::npos);
  EXPECT_EQ(bad.advice.find("sbatch --exclude=n2"), 0U);
}

TEST(NodeSpeedCheck, SumsTheRanksOfANode) {
  comm::run_thread_world(3, [](comm::World& world) {
    const double mine = static_cast<double>(world.rank()) + 1;
    const auto nodes = gather_speeds(world, {.flops = mine * 1.5e9, .bytes_per_s = mine * 1e9});
    if (world.rank() != 0) {
      EXPECT_TRUE(nodes.empty());
      return;
    }
    ASSERT_EQ(nodes.size(), 1U);
    EXPECT_EQ(nodes[0].ranks, 3);
    EXPECT_DOUBLE_EQ(nodes[0].speed.flops, 9e9);
    EXPECT_DOUBLE_EQ(nodes[0].speed.bytes_per_s, 6e9);
  });
}

}  // namespace node_speed_check_test

}  // namespace mpitron::doctor
